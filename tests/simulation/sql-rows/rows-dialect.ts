/** SQLite's part of the statements that the server stores share. Written for few rows: a world has a handful. */
import type { Dialect } from "../../../packages/everstep/src/stores/sql/dialect.ts";
import { selectWorkflows } from "../../../packages/everstep/src/stores/sql/reads/strands.ts";
import { type TableNames, tables } from "../../../packages/everstep/src/stores/sql/schema/table.ts";
import { runIdGapMax } from "../../../packages/everstep/src/stores/sql/write/run-ids.ts";
import { claimRows } from "./rows-claim.ts";
import { applyQuickly, sendQuickly } from "./rows-quick.ts";
import { given, inserting, places, puttingSteps, quoted, updating, upsert } from "./rows-statements.ts";

export const names: TableNames = Object.fromEntries(tables.map((table) => [table, table])) as TableNames;

export interface RowsDialectOptions {
  /** With the ways that need one round trip. */
  readonly quick: boolean;
  /** Uniform in [0, 1). It goes on where it was when the data goes back. */
  readonly float: () => number;
}

export function rowsDialect({ quick, float }: RowsDialectOptions): Dialect {
  return {
    names,
    parameters: (alias, columns) => (rows) => ({
      sql: `${given(columns, rows)} AS ${alias}`,
      values: rows.flat(),
    }),
    insert: inserting,
    update: updating,
    putSteps: puttingSteps,
    put: (table, keys, columns, how) => (rows) => {
      const set = columns.map((column) =>
        how === "add"
          ? `${quoted(column)} = t.${column} + excluded.${column}`
          : `${quoted(column)} = excluded.${column}`,
      );
      return {
        sql: `${upsert(table, [...keys, ...columns], keys, rows)} ${set.join(", ")}`,
        values: rows.flat(),
      };
    },
    forget: (table, column, keys, limit) =>
      `DELETE FROM ${table} WHERE (${keys.join(", ")}) IN (SELECT ${keys.join(", ")} FROM ${table} ` +
      `WHERE ${column} < ? ORDER BY ${column} LIMIT ${limit})`,
    quoted,
    remove: (table, keys) => (rows) => ({
      sql: `DELETE FROM ${table} WHERE (${keys.map(quoted).join(", ")}) IN (VALUES ${places(keys, rows)})`,
      values: rows.flat(),
    }),
    lock: () => "",
    claim: claimRows,
    // Worlds are told twice: SQLite's own chance would not repeat.
    get anyGap() {
      return String(Math.floor(float() * (runIdGapMax + 1)));
    },
    ...(quick ? { applyQuickly, sendQuickly } : {}),
    limit: "LIMIT ?",
    startsWith: (expression, prefix) => ({
      sql: `substr(${expression}, 1, length(?)) = ?`,
      values: [prefix, prefix],
    }),
    workflows: selectWorkflows(names),
  };
}
