/** What a quick batch writes beside the hot rows of its commits. */
import { nameKey } from "../../../store/apply/keys.ts";
import type { RunRow } from "../../../store/apply/run-row.ts";
import type { RowValues } from "../dialect.ts";
import { instanceValues } from "../rows/instance-row.ts";
import { stepValues } from "../rows/step-row.ts";
import type { QuickBatch } from "./quick-write.ts";

export interface NewInstance {
  readonly row: RunRow;
  readonly values: RowValues;
}

/** By name, as everybody takes them. */
export function newInstances({ creations: { runs } }: QuickBatch): readonly NewInstance[] {
  const named = [...runs.values()].flatMap(({ row, instance }) =>
    instance.request === null
      ? []
      : [{ row, key: nameKey(instance), values: instanceValues(instance.id, row.run, instance.request) }],
  );
  return named.length === 1 ? named : named.sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Steps that runs begin with. */
export function firstSteps({ creations: { runs } }: QuickBatch): readonly RowValues[] {
  const rows: RowValues[] = [];
  for (const { row, stepPuts } of runs.values()) {
    for (const step of stepPuts.values()) rows.push(stepValues(row.run, step));
  }
  return rows;
}

/** Run, sequence and step. The first who takes an event has it. */
export function takenEvents({ commits }: QuickBatch): readonly (readonly [number, number, string])[] {
  return commits.flatMap(({ run, request: { boundary } }) => {
    if (boundary.consumed.length === 0) return [];
    const takers = new Map(boundary.consumed.toReversed().map(({ seq, stepKey }) => [seq, stepKey]));
    return [...takers].map(([seq, stepKey]) => [run, seq, stepKey] as const);
  });
}
