/** PostgreSQL's part of the shared statements: rows travel as one array per column, so a text fits any number of them. */
import type { Dialect, Part, RowsPart, RowsStatement, RowValues } from "../sql/dialect.ts";
import { orderOf, type Strands, selectWorkflows, strandText, withWorkflows } from "../sql/reads/strands.ts";
import { columnType, type Table } from "../sql/schema/table.ts";
import { runIdGapMax } from "../sql/write/run-ids.ts";
import { claimRound } from "./claim.ts";
import { quickSends, quickWrites } from "./quick-write.ts";
import { tableNames } from "./schema.ts";

export function postgresDialect(namespace: string): Dialect {
  const names = tableNames(namespace);
  const statement = (
    table: Table,
    columns: readonly string[],
    text: (rows: string) => string,
  ): RowsStatement => {
    const sql = text(manyText("v", columns, table));
    return (rows) => ({ sql, values: turned(rows, columns.length) });
  };
  const matching = (keys: readonly string[], where?: string): string =>
    [...keys.map((key) => `t.${key} = v.${key}`), ...(where === undefined ? [] : [where])].join(" AND ");

  const insert: Dialect["insert"] = (table, columns) =>
    statement(table, columns, (rows) => {
      const list = columns.join(", ");
      return `INSERT INTO ${names[table]} (${list}) SELECT ${list} FROM ${rows}`;
    });

  const dialect: Dialect = {
    names,
    parameters,
    insert,
    update: (table, keys, columns, where, compared = []) =>
      statement(table, [...keys, ...columns, ...compared], (rows) => {
        const set = columns.map((column) => `${column} = v.${column}`).join(", ");
        return `UPDATE ${names[table]} AS t SET ${set} FROM ${rows} WHERE ${matching(keys, where)}`;
      }),
    putSteps: (columns) =>
      statement("step", columns, (rows) => {
        const list = columns.join(", ");
        const replaced = columns
          .filter((column) => column !== "run" && column !== "step_index")
          .map((column) => `${column} = excluded.${column}`);
        return (
          `INSERT INTO ${names.step} AS t (${list}) SELECT ${list} FROM ${rows} ` +
          `ON CONFLICT (run, step_index) DO UPDATE SET ${replaced.join(", ")} WHERE t.status = 'waiting'`
        );
      }),
    put: (table, keys, columns, how) =>
      statement(table, [...keys, ...columns], (rows) => {
        const list = [...keys, ...columns].join(", ");
        const set = columns.map((column) =>
          how === "add" ? `${column} = t.${column} + excluded.${column}` : `${column} = excluded.${column}`,
        );
        return (
          `INSERT INTO ${names[table]} AS t (${list}) SELECT ${list} FROM ${rows} ` +
          `ON CONFLICT (${keys.join(", ")}) DO UPDATE SET ${set.join(", ")}`
        );
      }),
    // Whoever forgets the same right now is not waited for.
    forget: (table, column, keys, limit) =>
      `DELETE FROM ${names[table]} WHERE (${keys.join(", ")}) IN (SELECT ${keys.join(", ")} FROM ${names[table]} ` +
      `WHERE ${column} < ? ORDER BY ${column} LIMIT ${limit} FOR UPDATE SKIP LOCKED)`,
    quoted: (column) => `"${column}"`,
    remove: (table, keys) =>
      statement(
        table,
        keys,
        (rows) => `DELETE FROM ${names[table]} AS t USING ${rows} WHERE ${matching(keys)}`,
      ),
    lock: (alias, busy = "wait") => `FOR UPDATE OF ${alias}${busy === "skip" ? " SKIP LOCKED" : ""}`,
    claim: claimRound(names),
    anyGap: `floor(random() * ${runIdGapMax + 1})::bigint`,
    applyQuickly: quickWrites(names),
    sendQuickly: quickSends(names),
    limit: "LIMIT ?",
    startsWith: (expression, prefix) => ({ sql: `starts_with(${expression}, ?::text)`, values: [prefix] }),
    workflows: selectWorkflows(names),
    merged: (strands) => mergedStrands(dialect, strands),
  };
  return dialect;
}

/** Each strand is read for each workflow and status, or lane, that a table of them has. */
function mergedStrands(dialect: Dialect, strands: Strands): Part {
  const { workflows, among, limit } = strands;
  const strand = strandText(dialect, strands, "known.workflow", "a.value");
  const known =
    workflows === undefined
      ? withWorkflows(dialect.names)
      : "WITH known AS (SELECT unnest(?::text[]) AS workflow)";
  const type = among.column === "lane" ? "bigint" : "text";
  return {
    sql:
      `${known} SELECT c.placed_at, c.place FROM known CROSS JOIN unnest(?::${type}[]) AS a (value) ` +
      `CROSS JOIN LATERAL (${strand.sql}) c ORDER BY ${orderOf(strands, "c.")} LIMIT ?`,
    values: [...(workflows === undefined ? [] : [workflows]), among.values, ...strand.values, limit],
  };
}

/** One row as plain values, more as arrays. */
function parameters(alias: string, columns: readonly string[]): RowsPart {
  const one = `(SELECT ${columns.map((column) => `?::${typeOf(column)} AS ${column}`).join(", ")}) AS ${alias}`;
  const many = manyText(alias, columns);
  return (rows) =>
    rows.length === 1
      ? { sql: one, values: rows[0] ?? [] }
      : { sql: many, values: turned(rows, columns.length) };
}

function manyText(alias: string, columns: readonly string[], table?: Table): string {
  const arrays = columns.map((column) => `?::${typeOf(column, table)}[]`);
  return `unnest(${arrays.join(", ")}) AS ${alias} (${columns.join(", ")})`;
}

function typeOf(column: string, table?: Table): string {
  return columnType(column, table) === "integer" ? "bigint" : "text";
}

/** Rows as columns. */
function turned(rows: readonly RowValues[], width: number): RowValues[] {
  return Array.from({ length: width }, (_unused, column) => rows.map((row) => row[column] ?? null));
}
