/** Log lines of pages and of a stream, put together: each once, oldest first. */
import type { WireLogLine } from "everstep/client";

/** `2-17` is line 17 of run 2. */
function placeOf(id: string): readonly [number, number] {
  const [run = 0, seq = 0] = id.split("-").map(Number);
  return [run, seq];
}

export function isBefore(a: string, b: string): boolean {
  const [aRun, aSeq] = placeOf(a);
  const [bRun, bSeq] = placeOf(b);
  return aRun === bRun ? aSeq < bSeq : aRun < bRun;
}

export function mergeLines(
  known: readonly WireLogLine[],
  more: readonly WireLogLine[],
): readonly WireLogLine[] {
  if (more.length === 0) return known;
  const last = known.at(-1);
  const first = more[0];
  const isSorted = more.every((line, at) => at === 0 || isBefore((more[at - 1] as WireLogLine).id, line.id));
  // Nearly always: what is new follows what is known.
  if (isSorted && first && (!last || isBefore(last.id, first.id))) return [...known, ...more];
  const byId = new Map([...known, ...more].map((line) => [line.id, line]));
  return [...byId.values()].sort((a, b) => (isBefore(a.id, b.id) ? -1 : 1));
}

/** The newest ones, with how many were left out. */
export function newest<Item>(
  items: readonly Item[],
  most: number,
): { readonly shown: readonly Item[]; readonly left: number } {
  const left = Math.max(0, items.length - most);
  return { shown: left === 0 ? items : items.slice(left), left };
}
