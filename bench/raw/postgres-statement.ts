/** A transaction's writes as one statement: one round trip, and its own transaction. */
import type { Expression, SqlInsert, SqlUpdate, SqlValue, SqlWrite } from "./sql-rows.ts";

export interface PostgresStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

export function postgresStatement(writes: readonly SqlWrite[], schema: string): PostgresStatement {
  const values: unknown[] = [];
  const parameter: Parameter = (value, type) => `$${values.push(value)}${type}`;
  const parts = writes.map((write) =>
    write.kind === "insert" ? insertText(write, schema, parameter) : updateText(write, schema, parameter),
  );
  const last = parts.pop() ?? "SELECT 1";
  const before = parts.map((part, n) => `w${n} AS (${part})`).join(", ");
  return { text: before === "" ? last : `WITH ${before} ${last}`, values };
}

/** Adds a value and gives the text that stands for it. */
type Parameter = (value: unknown, type: string) => string;

function insertText({ table, columns, rows }: SqlInsert, schema: string, parameter: Parameter): string {
  const into = `INSERT INTO ${schema}.${table} (${columns.join(", ")})`;
  const [first = []] = rows;
  if (rows.length === 1)
    return `${into} VALUES (${first.map((value) => scalar(value, parameter)).join(", ")})`;
  // What is the same in every row is sent once.
  const lists: string[] = [];
  const selected = columns.map((_, at) => {
    if (rows.every((row) => row[at] === first[at])) return scalar(first[at] ?? null, parameter);
    const list = rows.map((row) => row[at]);
    lists.push(parameter(list, typeof first[at] === "number" ? "::bigint[]" : "::text[]"));
    return `u.c${lists.length}`;
  });
  const names = lists.map((_, n) => `c${n + 1}`).join(", ");
  return `${into} SELECT ${selected.join(", ")} FROM unnest(${lists.join(", ")}) AS u(${names})`;
}

function updateText(
  { table, set, key, runs, also }: SqlUpdate,
  schema: string,
  parameter: Parameter,
): string {
  const changes = Object.entries(set).map(
    ([column, value]) => `${column} = ${isExpression(value) ? value.sql : scalar(value, parameter)}`,
  );
  const rows =
    runs.length === 1 ? `= ${parameter(runs[0], "::bigint")}` : `= ANY(${parameter(runs, "::bigint[]")})`;
  const others = Object.entries(also).map(([column, value]) => `${column} = ${scalar(value, parameter)}`);
  return `UPDATE ${schema}.${table} SET ${changes.join(", ")} WHERE ${[`${key} ${rows}`, ...others].join(" AND ")}`;
}

function scalar(value: SqlValue, parameter: Parameter): string {
  if (value === null) return "NULL";
  return parameter(value, typeof value === "number" ? "::bigint" : "::text");
}

function isExpression(value: SqlValue | Expression): value is Expression {
  return typeof value === "object" && value !== null;
}
