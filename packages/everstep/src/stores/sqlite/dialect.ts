/** SQLite's part of the shared statements. It works in the process, so each row of values has a statement of its own. */
import { selectWorkflows } from "../sql/reads/strands.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { SqlDialect } from "../sql/sql-store.ts";

/**
 * A bare `LIMIT ?` lets SQLite plan with the value itself, at the price of preparing the statement anew at every call:
 * 5 to 15 microseconds. An expression does not.
 */
export const limited = "LIMIT ? + 0";

export function sqliteDialect(names: TableNames): SqlDialect {
  return {
    names,
    oneByOne: true,
    limit: limited,
    parameters: (alias, columns) => {
      const sql = `(SELECT ${columns.map((column) => `? AS ${column}`).join(", ")}) AS ${alias}`;
      return (rows) => ({ sql, values: rows[0] ?? [] });
    },
    quoted: (column) => column,
    through: (table, index) => `INDEXED BY ${names[table]}_${index}`,
    // As bytes: text functions stop at a NUL; of no bytes substr makes NULL.
    startsWith: (expression, prefix) => ({
      sql: `ifnull(substr(CAST(${expression} AS BLOB), 1, ?), x'') = CAST(? AS BLOB)`,
      values: [new TextEncoder().encode(prefix).length, prefix],
    }),
    // As bytes too: node:sqlite of Node 22 reads text only up to the first NUL.
    logColumn: (column) =>
      ["step_key", "category", "message"].includes(column)
        ? `CAST(l.${column} AS BLOB) AS ${column}`
        : `l.${column}`,
    workflows: selectWorkflows(names),
    put(table, keys, columns, how) {
      const all = [...keys, ...columns];
      const set = columns.map((column) =>
        how === "add" ? `${column} = t.${column} + excluded.${column}` : `${column} = excluded.${column}`,
      );
      const sql =
        `INSERT INTO ${names[table]} AS t (${all.join(", ")}) VALUES (${all.map(() => "?").join(", ")}) ` +
        `ON CONFLICT (${keys.join(", ")}) DO UPDATE SET ${set.join(", ")}`;
      return (rows) => ({ sql, values: rows[0] ?? [] });
    },
    forget: (table, column, keys, limit) =>
      `DELETE FROM ${names[table]} WHERE (${keys.join(", ")}) IN (SELECT ${keys.join(", ")} FROM ${names[table]} ` +
      `WHERE ${column} < ? ORDER BY ${column} LIMIT ${limit})`,
    remove(table, keys) {
      const sql = `DELETE FROM ${names[table]} WHERE ${keys.map((key) => `${key} = ?`).join(" AND ")}`;
      return (rows) => ({ sql, values: rows[0] ?? [] });
    },
    lock: () => "",
  };
}
