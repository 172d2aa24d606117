/** A list as it is now: its first page watched, further ones loaded when they are wanted and renewed while they are seen. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { isAbort, type Problem, problemOf } from "../../api/problem.ts";
import { serverNow } from "../../api/server-clock.ts";
import { useSession } from "../../api/session.tsx";
import { useWatched } from "../../api/use-watched.ts";
import { type Filters, listOptionsOf, nameOf } from "./filters.ts";
import {
  addPage,
  type Listing,
  laterPagesBetween,
  mergeFirstPage,
  mergeLaterPage,
  startListing,
} from "./listing.ts";
import { pageSize, type Source, sourceOf } from "./source.ts";

export interface LiveListing {
  readonly source: Source;
  readonly listing: Listing | undefined;
  /** Why there is no list, or why it does not go on. */
  readonly problem: Problem | undefined;
  /** The connection dropped; it is being made again. */
  readonly isStale: boolean;
  readonly isLoadingMore: boolean;
  readonly moreProblem: Problem | undefined;
  loadMore(): void;
  /** Lets the new ones in. */
  showNew(): void;
  again(): void;
  change(how: (last: Listing) => Listing): void;
}

const renewMs = 3000;

export function useListing(filters: Filters, isHeld: boolean, kept?: Listing): LiveListing {
  const { client, refused } = useSession();
  const filterName = nameOf(filters);
  const [round, setRound] = useState(0);
  const name = `${round} ${filterName}`;
  // "The last hour" is reckoned from when the list is opened.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the name says all of the filters
  const source = useMemo(
    () => sourceOf(client, filters.workflowName, listOptionsOf(filters, serverNow())),
    [client, name],
  );
  const watched = useWatched({ name, open: (terms) => source.watch(terms) });
  const [state, setState] = useState<{ readonly name: string; readonly listing?: Listing | undefined }>({
    name,
    listing: kept,
  });
  const [more, setMore] = useState<{ readonly isLoading: boolean; readonly problem?: Problem }>({
    isLoading: false,
  });

  const first = watched.value;
  useEffect(() => {
    if (!first) return;
    setState((last) => {
      if (last.name !== name || !last.listing) return { name, listing: startListing(first, pageSize) };
      return { name, listing: mergeFirstPage(last.listing, first, { isHeld, pageSize }) };
    });
  }, [first, name, isHeld]);

  const listing = state.name === name ? state.listing : undefined;
  const change = useCallback(
    (how: (last: Listing) => Listing) =>
      setState((last) => {
        if (last.name !== name || !last.listing) return last;
        const next = how(last.listing);
        return next === last.listing ? last : { name, listing: next };
      }),
    [name],
  );

  const underWay = useRef<AbortController | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another name ends what is under way
  useEffect(() => {
    setMore({ isLoading: false });
    return () => {
      underWay.current?.abort();
      underWay.current = null;
    };
  }, [name]);

  const cursor = listing?.next;
  const loadMore = useCallback(() => {
    if (cursor === undefined || underWay.current) return;
    const leaving = new AbortController();
    underWay.current = leaving;
    setMore({ isLoading: true });
    source
      .list({ cursor, signal: leaving.signal })
      .then((page) => {
        if (leaving.signal.aborted) return;
        change((last) => (last.next === cursor ? addPage(last, page, pageSize) : last));
        setMore({ isLoading: false });
      })
      .catch((thrown: unknown) => {
        if (leaving.signal.aborted || isAbort(thrown)) return;
        const problem = problemOf(thrown);
        refused(problem);
        setMore({ isLoading: false, problem });
      })
      .finally(() => {
        if (underWay.current === leaving) underWay.current = null;
      });
  }, [cursor, source, change, refused]);

  const showNew = useCallback(() => {
    if (first) change((last) => mergeFirstPage(last, first, { isHeld: false, pageSize }));
  }, [first, change]);
  const again = useCallback(() => setRound((last) => last + 1), []);

  return {
    source,
    listing,
    problem: watched.problem,
    isStale: watched.isStale,
    isLoadingMore: more.isLoading,
    moreProblem: more.problem,
    loadMore,
    showNew,
    again,
    change,
  };
}

/** Renews the later pages that are on the screen. The first one is watched anyway. */
export function useRenewal(live: LiveListing, shown: { readonly first: number; readonly end: number }): void {
  const latest = useRef({ live, shown });
  latest.current = { live, shown };
  const { source } = live;
  useEffect(() => {
    const leaving = new AbortController();
    const renew = async (): Promise<void> => {
      const { live, shown } = latest.current;
      if (!live.listing || document.visibilityState !== "visible") return;
      for (const number of laterPagesBetween(live.listing, shown.first, shown.end)) {
        const cursor = live.listing.pages[number]?.cursor;
        const page = await source.list({ cursor, signal: leaving.signal });
        if (leaving.signal.aborted) return;
        live.change((last) =>
          last.pages[number]?.cursor === cursor ? mergeLaterPage(last, number, page, pageSize) : last,
        );
      }
    };
    let timer: ReturnType<typeof setTimeout>;
    const later = (): void => {
      // What fails is tried again; that the service is away is said by the watched page.
      timer = setTimeout(
        () =>
          void renew()
            .catch(() => {})
            .finally(() => !leaving.signal.aborted && later()),
        renewMs,
      );
    };
    later();
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [source]);
}
