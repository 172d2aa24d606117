/** The first pages of a list, as many as somebody asked for, asked again from time to time. */
import { useState } from "react";
import type { Problem } from "./problem.ts";
import { useLoaded } from "./use-loaded.ts";

export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly cursor?: string | undefined;
  readonly hasNextPage: boolean;
}

export interface Pages<Item> {
  readonly items: readonly Item[] | undefined;
  /** There are more than these; `more` reads another page of them. */
  readonly isMore: boolean;
  more(): void;
  readonly problem: Problem | undefined;
  reload(): void;
}

export interface PageTerms<Item> {
  /** Names the list: another name, another list, from its first page. */
  readonly name: string;
  read(page: { readonly cursor: string | undefined; readonly signal: AbortSignal }): Promise<ListPage<Item>>;
  readonly everyMs: number;
}

export function usePages<Item>({ name, read, everyMs }: PageTerms<Item>): Pages<Item> {
  const [wanted, setWanted] = useState({ name, pages: 1 });
  const pages = wanted.name === name ? wanted.pages : 1;
  const { value, problem, reload } = useLoaded({
    name: `${name} ${pages}`,
    load: async (signal) => {
      const items: Item[] = [];
      let page: ListPage<Item> = { items: [], hasNextPage: true };
      for (let n = 0; n < pages && page.hasNextPage; n++) {
        page = await read({ cursor: page.cursor, signal });
        items.push(...page.items);
      }
      return { items, isMore: page.hasNextPage };
    },
    everyMs,
  });
  return {
    items: value?.items,
    isMore: value?.isMore ?? false,
    more: () => setWanted({ name, pages: pages + 1 }),
    problem,
    reload,
  };
}
