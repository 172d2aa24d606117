/** What few commits have: events they took, more than one step, and waits that are open when the run ends. */

import type { SqlValue } from "../sql/rows/row.ts";
import { stepColumns, stepValues } from "../sql/rows/step-row.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { QuickBatch } from "../sql/write/quick-write.ts";
import { type Column, columnsAt, sameKey, tableText } from "./parameter-table.ts";
import { stepRow } from "./quick-fence.ts";
import { replacing } from "./quick-fence-text.ts";

type Values = readonly SqlValue[];

export const consumedColumns: readonly Column<Values>[] = columnsAt(["run", "seq", "consumed_by"]);
export const moreColumns: readonly Column<Values>[] = columnsAt(stepColumns);

/** The first who takes an event has it. */
export function consumedRows({ commits }: QuickBatch): readonly Values[] {
  return commits.flatMap(({ run, request: { boundary } }) => {
    if (boundary.consumed.length === 0) return [];
    const first = new Map(boundary.consumed.toReversed().map(({ seq, stepKey }) => [seq, stepKey]));
    return [...first].map(([seq, stepKey]) => [run, seq, stepKey]);
  });
}

/** Steps beside the first of their commit, and those that a run begins with. */
export function moreRows({ commits, creations }: QuickBatch): readonly Values[] {
  const rows: Values[] = [];
  for (const { run, steps, lane } of commits) {
    for (let n = 1; n < steps.length; n += 1) {
      const step = steps[n];
      if (step !== undefined) rows.push(stepRow(run, step, lane));
    }
  }
  for (const { row, stepPuts } of creations.runs.values()) {
    for (const step of stepPuts.values()) rows.push(stepValues(row.run, step));
  }
  return rows;
}

export function consumedText(names: TableNames, isMany: boolean, now: string, first: number): string {
  // A text that named what is not delivered yet would open a worse way to look for it.
  return `UPDATE ${names.event} AS e SET delivered_at = ${now}::bigint, consumed_by = v.consumed_by
    FROM ${tableText("v", consumedColumns, isMany, first)}
    WHERE ${sameKey("e.run", "v.run", isMany)} AND e.seq = v.seq AND coalesce(e.delivered_at, -1) = -1 AND (v.run IN (SELECT f.id FROM fenced f)) IS TRUE`;
}

export function moreText(
  names: TableNames,
  isMany: boolean,
  first: number,
  has: { readonly commits: boolean; readonly creations: boolean },
): string {
  const owners = [
    ...(has.commits ? ["SELECT f.id FROM fenced f"] : []),
    ...(has.creations ? ["SELECT m.id FROM made m"] : []),
  ].join(" UNION ALL ");
  return `INSERT INTO ${names.step} AS t (${stepColumns.join(", ")})
    SELECT ${stepColumns.map((name) => `v.${name}`).join(", ")} FROM ${tableText("v", moreColumns, isMany, first)}
    WHERE (v.run IN (${owners})) IS TRUE ${replacing}`;
}

/**
 * Waits of a run that has ended are not open any more. A row must not be written twice by one statement: those that are
 * put are closed already. They are looked up run by run, by their place: nothing else may be tried, however few there
 * seem to be.
 */
export function closedText(
  names: TableNames,
  hasFirstStep: boolean,
  more: { readonly isMany: boolean; readonly first: number } | null,
): string {
  const put = [
    ...(hasFirstStep ? ["o.step_index IS DISTINCT FROM f.step_index"] : []),
    ...(more === null
      ? []
      : [
          `((o.run, o.step_index) IN (SELECT p.run, p.step_index FROM ${tableText("p", moreColumns, more.isMany, more.first)})) IS NOT TRUE`,
        ]),
  ];
  return `UPDATE ${names.step} AS s SET is_open = 0 WHERE s.ctid = ANY (ARRAY(
    SELECT o.ctid FROM fenced f CROSS JOIN LATERAL (
      SELECT w.ctid, w.run, w.step_index FROM ${names.step} w WHERE w.run = f.id AND w.is_open = 1 OFFSET 0
    ) o WHERE ${["f.lane IS NULL", ...put].join(" AND ")}))`;
}
