import type { Part } from "../sql/dialect.ts";
import type { SqlValue } from "../sql/rows/row.ts";
import type { ColumnType } from "../sql/schema/table.ts";

/** So many are told apart by lists of the runs that have them. */
const fewValues = 3;

/**
 * An expression for the rows of `run r` that gives each of these runs, whose ids ascend, its own value: so that one UPDATE
 * finds many rows by their keys, in order, and needs no table of values to join with. INTERVAL is a binary search.
 */
export function perRun(runs: readonly number[], values: readonly SqlValue[], type: ColumnType): Part {
  const distinct = new Set<SqlValue>();
  for (const value of values) if (distinct.add(value).size > fewValues) return looked(runs, values, type);
  const [usual = null, ...others] = distinct;
  if (others.length === 0) return { sql: "?", values: [usual] };
  const cases = others.map((value) => [runs.filter((_run, n) => values[n] === value), value]);
  return {
    sql: `CASE${" WHEN r.id IN (?) THEN ?".repeat(cases.length)} ELSE ? END`,
    values: [...cases.flat(), usual],
  };
}

/** What ELT gives is text, which is compared in another way than numbers are. */
function looked(runs: readonly number[], values: readonly SqlValue[], type: ColumnType): Part {
  const sql = "ELT(INTERVAL(r.id, ?), ?)";
  return { sql: type === "integer" ? `CAST(${sql} AS SIGNED)` : sql, values: [runs, values] };
}
