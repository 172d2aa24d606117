/** Which instances a person has chosen, by key. What is chosen stays chosen when it scrolls away. */
import type { Row } from "./row.ts";

export type Chosen = Pick<Row, "key" | "workflowName" | "instanceId" | "status" | "updatedAt">;

export interface Selection {
  readonly chosen: ReadonlyMap<string, Chosen>;
  /** The one that a range goes on from. */
  readonly anchor: string | null;
}

export const nothingChosen: Selection = { chosen: new Map(), anchor: null };

export function withToggled(selection: Selection, row: Chosen): Selection {
  const chosen = new Map(selection.chosen);
  if (!chosen.delete(row.key)) chosen.set(row.key, chosenOf(row));
  return { chosen, anchor: row.key };
}

/** Everything from the anchor to this row becomes what the anchor is: chosen or not. */
export function withRange(selection: Selection, rows: readonly Row[], row: Row): Selection {
  const from = rows.findIndex(({ key }) => key === selection.anchor);
  const to = rows.findIndex(({ key }) => key === row.key);
  if (from < 0 || to < 0) return withToggled(selection, row);
  const chosen = new Map(selection.chosen);
  const isChosen = chosen.has(selection.anchor as string);
  for (const each of rows.slice(Math.min(from, to), Math.max(from, to) + 1)) {
    if (isChosen) chosen.set(each.key, chosenOf(each));
    else chosen.delete(each.key);
  }
  return { chosen, anchor: row.key };
}

export function withAll(selection: Selection, rows: readonly Chosen[]): Selection {
  const chosen = new Map(selection.chosen);
  for (const row of rows) chosen.set(row.key, chosenOf(row));
  return { ...selection, chosen };
}

/** Those that are chosen, with the newest status that is known: the list may be older than what "all that match" found. */
export function asListed(chosen: Iterable<Chosen>, rows: readonly Row[]): readonly Chosen[] {
  const listed = new Map(rows.filter(({ hasLeft }) => !hasLeft).map((row) => [row.key, row]));
  return [...chosen].map((each) => {
    const row = listed.get(each.key);
    return row && row.updatedAt >= each.updatedAt ? chosenOf(row) : each;
  });
}

function chosenOf({ key, workflowName, instanceId, status, updatedAt }: Chosen): Chosen {
  return { key, workflowName, instanceId, status, updatedAt };
}
