/** Lists that come in pages: what users can say about them, and reading them. */
import type { OptionTable } from "./command.ts";
import { jsonLine } from "./output/json-document.ts";
import type { Output } from "./output/output.ts";
import { painted } from "./output/paint.ts";

export const pageOptions = {
  "page-size": { type: "number", summary: "how many per page (default 25, at most 100)" },
  cursor: { summary: "where the page before ended" },
  all: { type: "flag", summary: "every page" },
} as const satisfies OptionTable;

interface Page {
  readonly cursor?: string;
  readonly hasNextPage: boolean;
}

interface Wanted {
  readonly pageSize: number | undefined;
  readonly cursor: string | undefined;
  readonly all: boolean;
}

/** The page that is asked for, or all from there on. */
export async function readPages<One extends Page>(
  { pageSize, cursor, all }: Wanted,
  read: (place: {
    readonly pageSize: number | undefined;
    readonly cursor: string | undefined;
  }) => Promise<One>,
): Promise<readonly One[]> {
  const size = pageSize ?? (all ? maxPageSize : undefined);
  const pages = [await read({ pageSize: size, cursor })];
  for (let last = pages[0]; all && last?.hasNextPage; last = pages.at(-1)) {
    pages.push(await read({ pageSize: size, cursor: last.cursor }));
  }
  return pages;
}

/** What servers give at once unless they were told otherwise. */
export const maxPageSize = 100;

/** For programs: one object in each line; how to see more is not for them. */
export function writeJsonLines(
  items: readonly unknown[],
  pages: readonly Page[],
  { out, err }: { readonly out: Output; readonly err: Output },
): void {
  for (const item of items) out.raw(jsonLine(item));
  writeNext(pages, err);
}

/** How to see more, if there is more. */
export function writeNext(pages: readonly Page[], out: Output): void {
  const last = pages.at(-1);
  if (!last?.hasNextPage) return;
  out.line();
  out.line(
    painted("dim", `There are more: the same with --all, or the next page with --cursor ${last.cursor}`),
  );
}
