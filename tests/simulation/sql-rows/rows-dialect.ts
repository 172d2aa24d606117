/** SQLite's part of the statements that the server stores share. Written for few rows: a world has a handful. */

import { pendingLanes } from "../../../packages/everstep/src/store/apply/lane.ts";
import type { Dialect, InstanceListing } from "../../../packages/everstep/src/stores/sql/dialect.ts";
import { selectionOf } from "../../../packages/everstep/src/stores/sql/instance-row.ts";
import { runIdGapMax } from "../../../packages/everstep/src/stores/sql/run-ids.ts";
import { type TableNames, tables } from "../../../packages/everstep/src/stores/sql/table.ts";
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
    listInstances,
    async listDue(database, { before, limit }) {
      const sql =
        "SELECT i.workflow, i.instance_id, r.run_number, r.kind, r.due_at FROM run r JOIN instance i ON i.id = r.instance " +
        `WHERE r.lane IN (${pendingLanes.join(", ")}) AND r.due_at <= ? ORDER BY r.due_at, r.id LIMIT ?`;
      const [result] = await database.run([{ sql, values: [before, limit] }]);
      return result?.rows ?? [];
    },
    async listTopics(database, { from, ascending, limit }) {
      const beyond = from === undefined ? "" : `AND s.topic ${ascending ? ">" : "<"} ?`;
      const sql =
        `SELECT s.topic, count(*) AS waiters FROM step s WHERE s.is_open = 1 AND s.topic IS NOT NULL ${beyond} ` +
        `GROUP BY s.topic ORDER BY s.topic ${ascending ? "ASC" : "DESC"} LIMIT ?`;
      const values = [...(from === undefined ? [] : [from]), limit];
      const [result] = await database.run([{ sql, values }]);
      return result?.rows ?? [];
    },
  };
}

const listInstances: Dialect["listInstances"] = async (database, list) => {
  const { workflowName, statuses, deadLetter, idPrefix, ascending, from, to, limit } = list;
  const [beyond, upTo, direction] = ascending ? [">", "<=", "ASC"] : ["<", ">=", "DESC"];
  const conditions: [string, InstanceValues][] = [
    ["r.is_current = 1", []],
    [`r.status IN (${statuses.map(() => "?").join(", ")})`, statuses],
    [`(r.created_at, r.instance) ${beyond} (?, ?)`, [from.createdAt, from.instance]],
    [`(r.created_at, r.instance) ${upTo} (?, ?)`, [to.createdAt, to.instance]],
  ];
  if (workflowName !== undefined) conditions.push(["r.workflow = ?", [workflowName]]);
  if (deadLetter !== undefined) conditions.push(["r.dead_letter = ?", [deadLetter ? 1 : 0]]);
  if (idPrefix !== undefined)
    conditions.push(["substr(i.instance_id, 1, length(?)) = ?", [idPrefix, idPrefix]]);
  const sql =
    `SELECT ${selectionOf(list)} FROM run r JOIN instance i ON i.id = r.instance LEFT JOIN ending e ON e.run = r.id ` +
    `WHERE ${conditions.map(([text]) => text).join(" AND ")} ` +
    `ORDER BY r.created_at ${direction}, r.instance ${direction} LIMIT ?`;
  const values = [...conditions.flatMap(([, each]) => each), limit];
  const [result] = await database.run([{ sql, values }]);
  return { rows: result?.rows ?? [] };
};

type InstanceValues = readonly (InstanceListing["statuses"][number] | string | number)[];
