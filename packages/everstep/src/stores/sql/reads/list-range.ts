/**
 * Which part of the list of instances a query is about, in the order in which it is read. Where ids are looked for, only so
 * many instances are looked at: what lies further on is left for the next page.
 */

import { page, position, readPosition } from "../../../store/position.ts";
import type { InstanceQuery, Page } from "../../../store/store.ts";

/** Where an instance stands in the list. */
export interface Place {
  readonly createdAt: number;
  readonly instance: number;
}

export interface ListRange {
  /** Strictly beyond this place. */
  readonly from: Place;
  /** Up to this one. */
  readonly to: Place;
}

/** How many instances one call looks at for an id. */
export const lookMax = 10_000;

export function isAscending({ order }: InstanceQuery): boolean {
  return order === "asc";
}

export function rangeOf(query: InstanceQuery): ListRange {
  const { after, createdFrom, createdBefore } = query;
  // No instance has the lowest number, so a time with it lies before everything that was created then.
  const oldest = { createdAt: createdFrom ?? lowest, instance: lowest };
  const newest =
    createdBefore === undefined
      ? { createdAt: highest, instance: highest }
      : { createdAt: createdBefore, instance: lowest };
  const [first, to] = isAscending(query) ? [oldest, newest] : [newest, oldest];
  if (after === undefined) return { from: first, to };
  const [createdAt = 0, instance = 0] = readPosition(after, 2);
  const place = { createdAt, instance };
  return { from: nearest([place, first], !isAscending(query)) as Place, to };
}

/** The one that is met first. */
export function nearest(places: readonly Place[], ascending: boolean): Place | undefined {
  return places.toSorted(inOrder(ascending))[0];
}

export function inOrder(ascending: boolean): (a: Place, b: Place) => number {
  const sign = ascending ? 1 : -1;
  return (a, b) => sign * (a.createdAt - b.createdAt || a.instance - b.instance);
}

/** How many of each strand may be looked at, at least one, so that every page gets on. */
export function shareOf(strands: number): number {
  return Math.max(1, Math.floor(lookMax / Math.max(1, strands)));
}

/** Cuts the page; one that is not full goes on where it stopped looking. */
export function listPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  read: (row: Row) => Item,
  place: (row: Row) => Place,
  lookedTo: Place | undefined,
): Page<Item> {
  const text = ({ createdAt, instance }: Place): string => position(createdAt, instance);
  const cut = page(rows, limit, read, (row) => text(place(row)));
  return cut.after === undefined && lookedTo !== undefined ? { ...cut, after: text(lookedTo) } : cut;
}

const lowest = Number.MIN_SAFE_INTEGER;
const highest = Number.MAX_SAFE_INTEGER;
