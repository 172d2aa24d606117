/**
 * A long list, loaded page by page, while the instances in it go on. Pages follow each other by cursors. Of a page that is
 * looked at again, known rows are brought up to date in their place. Rows come and go only at the top, when the person is
 * there: elsewhere nothing may move under their eyes. What has come meanwhile is counted.
 */
import type { WireInstancesWithMeta } from "everstep/client";
import { isSameRow, type Row, rowOf } from "./row.ts";

export interface Listing {
  readonly rows: readonly Row[];
  /** Where each page begins: the cursor that it was asked with, and its first row. */
  readonly pages: readonly { readonly cursor: string | undefined; readonly first: number }[];
  /** Of the page that was not loaded yet; undefined when there is none. */
  readonly next: string | undefined;
  /** How many of the first page are not shown yet. */
  readonly newCount: number;
  /** More than a page of new ones: what lies between them and the rows is not known. */
  readonly isGap: boolean;
  /** Pages that were not full although there were more: only so many instances are looked at for one. */
  readonly shortPages: number;
}

/** How many instances the service looks at for a page that is not full, at most. */
export const lookedAtMax = 10_000;

export function startListing(page: WireInstancesWithMeta, pageSize: number): Listing {
  return {
    rows: page.instances.map(rowOf),
    pages: [{ cursor: undefined, first: 0 }],
    next: nextOf(page),
    newCount: 0,
    isGap: false,
    shortPages: isShort(page, pageSize) ? 1 : 0,
  };
}

/** The page after the last one. */
export function addPage(listing: Listing, page: WireInstancesWithMeta, pageSize: number): Listing {
  // Pages follow each other without overlap; only what came in at their border may be there already.
  const known = keysOf(listing.rows.slice(-2 * pageSize));
  const added = page.instances.map(rowOf).filter(({ key }) => !known.has(key));
  return {
    ...listing,
    rows: added.length === 0 ? listing.rows : [...listing.rows, ...added],
    pages: [...listing.pages, { cursor: listing.next, first: listing.rows.length }],
    next: nextOf(page),
    shortPages: listing.shortPages + (isShort(page, pageSize) ? 1 : 0),
  };
}

/** The first page as it is now. While it is held, rows neither come nor go. */
export function mergeFirstPage(
  listing: Listing,
  page: WireInstancesWithMeta,
  { isHeld, pageSize }: { readonly isHeld: boolean; readonly pageSize: number },
): Listing {
  const fresh = page.instances.map(rowOf);
  const at = positionsOf(listing.rows, 0, near * pageSize);
  const known = fresh.filter(({ key }) => at.has(key));
  const isFull = fresh.length >= pageSize;
  const isGap = known.length === 0 && isFull && listing.rows.length > 0 && page.hasNextPage;
  if (isHeld) {
    const { rows } = renewed(listing.rows, at, fresh);
    // Where everything is loaded, what comes at the end shifts nothing.
    const isWhole = listing.pages.length === 1 && listing.next === undefined;
    const tail = isWhole ? newTail(fresh, at) : [];
    const newCount = fresh.length - known.length - tail.length;
    if (tail.length > 0) return { ...listing, rows: [...rows, ...tail], next: nextOf(page), newCount, isGap };
    return { ...listing, rows, newCount, isGap };
  }
  const isAll = listing.pages.length === 1 || !page.hasNextPage;
  if (isAll || isGap) {
    return { ...startListing(page, pageSize), rows: keptWhereSame(fresh, listing.rows, at) };
  }
  // Everything up to the last known one is as the page says; what follows was loaded before and stays.
  const covered = 1 + Math.max(-1, ...known.map(({ key }) => at.get(key) as number));
  const isFresh = keysOf(fresh);
  const rest = listing.rows.slice(covered).filter(({ key }) => !isFresh.has(key));
  const top = keptWhereSame(fresh, listing.rows, at);
  const shift = top.length + rest.length - listing.rows.length;
  const pages = listing.pages.map((each, n) => (n === 0 ? each : { ...each, first: each.first + shift }));
  return { ...listing, rows: [...top, ...rest], pages, newCount: 0, isGap: false };
}

/** A later page as it is now. Rows that should be in it and are not have left the list; they keep their place. */
export function mergeLaterPage(
  listing: Listing,
  pageNumber: number,
  page: WireInstancesWithMeta,
  pageSize: number,
): Listing {
  const fresh = page.instances.map(rowOf);
  const from = (listing.pages[pageNumber]?.first ?? 0) - pageSize;
  const at = positionsOf(listing.rows, Math.max(0, from), from + near * pageSize);
  const { rows, positions } = renewed(listing.rows, at, fresh);
  const isLast = pageNumber === listing.pages.length - 1 && listing.next === undefined;
  const first = positions.length === 0 ? undefined : Math.min(...positions);
  const last = positions.length === 0 ? -1 : Math.max(...positions);
  const marked = first === undefined ? rows : withLeft(rows, keysOf(fresh), first, last);
  if (!isLast) return marked === listing.rows ? listing : { ...listing, rows: marked };
  const tail = newTail(fresh, at);
  if (tail.length === 0 && marked === listing.rows) return listing;
  return { ...listing, rows: tail.length === 0 ? marked : [...marked, ...tail], next: nextOf(page) };
}

/** Which pages have rows between these places; the first is watched anyway. */
export function laterPagesBetween(listing: Listing, first: number, end: number): readonly number[] {
  return listing.pages.flatMap(({ first: begin }, n) => {
    const stop = listing.pages[n + 1]?.first ?? listing.rows.length;
    return n > 0 && begin < end && stop > first ? [n] : [];
  });
}

function nextOf({ cursor, hasNextPage }: WireInstancesWithMeta): string | undefined {
  return hasNextPage ? cursor : undefined;
}

function isShort(page: WireInstancesWithMeta, pageSize: number): boolean {
  return page.hasNextPage && page.instances.length < pageSize;
}

function keysOf(rows: readonly Row[]): ReadonlySet<string> {
  return new Set(rows.map(({ key }) => key));
}

/** How many pages around a place are searched for its rows: a list may have a hundred thousand. */
const near = 4;

function positionsOf(rows: readonly Row[], from: number, end: number): ReadonlyMap<string, number> {
  return new Map(rows.slice(from, end).map(({ key }, n) => [key, from + n]));
}

/** Known rows as they are now, each in its place. The same list if nothing is different. */
function renewed(rows: readonly Row[], at: ReadonlyMap<string, number>, fresh: readonly Row[]) {
  let changed: Row[] | undefined;
  const positions: number[] = [];
  for (const row of fresh) {
    const position = at.get(row.key);
    if (position === undefined) continue;
    positions.push(position);
    if (isSameRow(rows[position] as Row, row)) continue;
    changed ??= [...rows];
    changed[position] = row;
  }
  return { rows: changed ?? rows, positions };
}

/** Rows that did not change stay the very same, so that nothing is drawn again for them. */
function keptWhereSame(
  fresh: readonly Row[],
  rows: readonly Row[],
  at: ReadonlyMap<string, number>,
): readonly Row[] {
  return fresh.map((row) => {
    const before = rows[at.get(row.key) ?? -1];
    return before && isSameRow(before, row) ? before : row;
  });
}

function newTail(fresh: readonly Row[], at: ReadonlyMap<string, number>): readonly Row[] {
  const last = fresh.findLastIndex(({ key }) => at.has(key));
  return last < 0 ? [] : fresh.slice(last + 1);
}

function withLeft(rows: readonly Row[], there: ReadonlySet<string>, first: number, last: number) {
  let changed: Row[] | undefined;
  for (let n = first; n <= last; n++) {
    const row = rows[n] as Row;
    if (there.has(row.key) || row.hasLeft) continue;
    changed ??= [...rows];
    changed[n] = { ...row, hasLeft: true };
  }
  return changed ?? rows;
}
