/** A transaction's writes as one text of several statements: one round trip. */
import type { Expression, SqlInsert, SqlUpdate, SqlValue, SqlWrite } from "./sql-rows.ts";

export interface MysqlNames {
  /** Of a table, without its namespace. */
  table(name: string): string;
  escape(text: string): string;
}

export function mysqlText(writes: readonly SqlWrite[], names: MysqlNames): string {
  const texts = writes.map((write) =>
    write.kind === "insert" ? insertText(write, names) : updateText(write, names),
  );
  return texts.length === 1 ? texts.join() : ["START TRANSACTION", ...texts, "COMMIT"].join(";");
}

function insertText({ table, columns, rows }: SqlInsert, names: MysqlNames): string {
  const values = rows.map((row) => `(${row.map((value) => literal(value, names)).join(",")})`);
  return `INSERT INTO ${names.table(table)} (${columns.map(quoted).join(",")}) VALUES ${values.join(",")}`;
}

function updateText({ table, set, key, runs, also }: SqlUpdate, names: MysqlNames): string {
  const changes = Object.entries(set).map(
    ([column, value]) => `${quoted(column)} = ${isExpression(value) ? value.sql : literal(value, names)}`,
  );
  const others = Object.entries(also).map(
    ([column, value]) => `${quoted(column)} = ${literal(value, names)}`,
  );
  const where = [`${key} IN (${runs.join(",")})`, ...others].join(" AND ");
  return `UPDATE ${names.table(table)} SET ${changes.join(", ")} WHERE ${where}`;
}

function literal(value: SqlValue, names: MysqlNames): string {
  if (value === null) return "NULL";
  return typeof value === "number" ? String(value) : names.escape(value);
}

function quoted(column: string): string {
  return `\`${column}\``;
}

function isExpression(value: SqlValue | Expression): value is Expression {
  return typeof value === "object" && value !== null;
}
