/** The part of a view's state that is in its address. */
import { useCallback, useMemo } from "react";
import { useLocation, useSearch } from "wouter";
import type { Query } from "./links.ts";

export interface QueryState {
  get(name: string): string | null;
  /** Null or nothing takes a name out. With `replace` the Back button skips it. */
  set(changes: Query, options?: { readonly replace?: boolean }): void;
  /** The address with these changes. */
  href(changes: Query): string;
}

export function useQuery(): QueryState {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const query = useMemo(() => new URLSearchParams(search), [search]);
  const href = useCallback(
    (changes: Query): string => {
      const next = new URLSearchParams(query);
      for (const [name, value] of Object.entries(changes)) {
        if (value === undefined || value === null || value === "") next.delete(name);
        else next.set(name, String(value));
      }
      const text = next.toString();
      return text === "" ? path : `${path}?${text}`;
    },
    [query, path],
  );
  const set = useCallback(
    (changes: Query, { replace = true }: { readonly replace?: boolean } = {}) =>
      navigate(href(changes), { replace }),
    [href, navigate],
  );
  return useMemo(() => ({ get: (name) => query.get(name), set, href }), [query, set, href]);
}
