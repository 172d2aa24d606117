import { EverstepError } from "../model/error.ts";
import type { Limits } from "../model/limits.ts";
import type { Page, PageQuery } from "../store/store.ts";
import type { PageOptions } from "../wire/options.ts";
import type { PageView } from "../wire/page.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";

export function pageQuery(list: string, options: PageOptions, limits: Limits): PageQuery {
  const { pageSize = limits.pageSize, cursor, order } = options;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > limits.maxPageSize) {
    throw new EverstepError(
      "INVALID_ARGUMENT",
      `pageSize is ${String(pageSize)}; it must be a whole number from 1 to ${limits.maxPageSize}.`,
    );
  }
  if (order !== undefined && order !== "asc" && order !== "desc") {
    throw new EverstepError("INVALID_ARGUMENT", `order is ${String(order)}; use "asc" or "desc".`);
  }
  return {
    limit: pageSize,
    ...(cursor === undefined ? {} : { after: decodeCursor(list, cursor) }),
    ...(order === undefined ? {} : { order }),
  };
}

export function pageView<Record, Item>(
  list: string,
  page: Page<Record>,
  view: (record: Record) => Item,
): PageView<Item> {
  const items = page.items.map(view);
  return page.after === undefined
    ? { items, hasNextPage: false }
    : { items, cursor: encodeCursor(list, page.after), hasNextPage: true };
}

/** How many entries are read at once: one may have two values of a mebibyte each. */
const portion = 5;

/**
 * A page that ends early once its entries take so many bytes, and then goes on behind its cursor. It is read in portions,
 * so that no more is held than that and one portion.
 */
export async function readWithin<Record>(
  read: (query: PageQuery) => Promise<Page<Record>>,
  query: PageQuery,
  bytesOf: (record: Record) => number,
  maxBytes: number,
): Promise<Page<Record>> {
  const items: Record[] = [];
  let bytes = 0;
  let next = query;
  for (;;) {
    const page = await read({ ...next, limit: Math.min(portion, query.limit - items.length) });
    items.push(...page.items);
    for (const item of page.items) bytes += bytesOf(item);
    const { after } = page;
    const isShort = page.items.length < portion;
    if (after === undefined) return { items };
    if (bytes >= maxBytes || items.length >= query.limit || isShort) return { items, after };
    next = { ...query, after };
  }
}

/** Everything of a bounded list, page by page. */
export async function readAll<Record>(
  read: (query: PageQuery) => Promise<Page<Record>>,
  pageSize: number,
): Promise<Record[]> {
  const all: Record[] = [];
  let after: string | undefined;
  do {
    const page: Page<Record> = await read({
      limit: pageSize,
      order: "asc",
      ...(after === undefined ? {} : { after }),
    });
    all.push(...page.items);
    after = page.after;
  } while (after !== undefined);
  return all;
}
