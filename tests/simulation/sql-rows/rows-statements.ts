/** Statements of rows for SQLite: as many places as there are values. */
import type { RowsStatement, RowValues } from "../../../packages/everstep/src/stores/sql/dialect.ts";
import type { Table } from "../../../packages/everstep/src/stores/sql/schema/table.ts";

/** Rows of values as a table to read from. */
export function given(columns: readonly string[], rows: readonly RowValues[]): string {
  const named = columns.map((column, at) => `column${at + 1} AS ${quoted(column)}`);
  return `(SELECT ${named.join(", ")} FROM (VALUES ${places(columns, rows)}))`;
}

export function places(columns: readonly string[], rows: readonly RowValues[]): string {
  const row = `(${columns.map(() => "?").join(", ")})`;
  return rows.map(() => row).join(", ");
}

export function updating(
  table: Table,
  keys: readonly string[],
  columns: readonly string[],
  where?: string,
  compared: readonly string[] = [],
): RowsStatement {
  const matching = [...keys.map((key) => `t.${key} = v.${key}`), ...(where === undefined ? [] : [where])];
  const set = columns.map((column) => `${quoted(column)} = v.${column}`).join(", ");
  return (rows) => ({
    sql: `UPDATE ${table} AS t SET ${set} FROM ${given([...keys, ...columns, ...compared], rows)} AS v WHERE ${matching.join(" AND ")}`,
    values: rows.flat(),
  });
}

export function upsert(
  table: Table,
  columns: readonly string[],
  keys: readonly string[],
  rows: readonly RowValues[],
): string {
  const list = columns.map(quoted).join(", ");
  return `INSERT INTO ${table} AS t (${list}) VALUES ${places(columns, rows)} ON CONFLICT (${keys.join(", ")}) DO UPDATE SET`;
}

export function quoted(column: string): string {
  return `"${column}"`;
}

export function inserting(table: Table, columns: readonly string[]): RowsStatement {
  return (rows) => ({
    sql: `INSERT INTO ${table} (${columns.map(quoted).join(", ")}) VALUES ${places(columns, rows)}`,
    values: rows.flat(),
  });
}

/** A waiting step is replaced; what has settled is left alone. */
export function puttingSteps(columns: readonly string[]): RowsStatement {
  const replaced = columns
    .filter((column) => column !== "run" && column !== "step_index")
    .map((column) => `${quoted(column)} = excluded.${column}`);
  return (rows) => ({
    sql: `${upsert("step", columns, ["run", "step_index"], rows)} ${replaced.join(", ")} WHERE t.status = 'waiting'`,
    values: rows.flat(),
  });
}
