/** Statements over many rows at once, and rows of values as a table to read from. */
import type { RowsPart, RowsStatement, RowValues } from "../sql/dialect.ts";
import type { SqlValue } from "../sql/rows/row.ts";
import { columnType, type Table, type TableNames } from "../sql/schema/table.ts";
import type { Statement } from "../sql/session.ts";

/**
 * Behind the alias of a table whose rows are to be locked: while a table is small the server would rather read all of it,
 * and so lock, or wait for, rows that are nobody's business.
 */
export const byKey = "FORCE INDEX (PRIMARY)";

/** What it does for many rows it may do in two parts, when it is too large for one packet. */
export interface RowsOfStatement extends Statement {
  halve(): readonly Statement[];
}

export function isDivisible(statement: Statement): statement is RowsOfStatement {
  return "halve" in statement;
}

/**
 * The text of the first row says of which type a column is. Texts are bytes, so that they are compared as the columns of
 * the tables are.
 */
export function parameterRows(alias: string, columns: readonly string[]): RowsPart {
  return (rows) => {
    const first = columns.map((column) => `${typed(column)} AS ${quoted(column)}`).join(", ");
    return { sql: `(${select(first, columns.length, rows.length)}) ${alias}`, values: rows.flat() };
  };
}

export function insertRows(names: TableNames, table: Table, columns: readonly string[]): RowsStatement {
  return divisible((given) => {
    const { list, rows } = withoutEmpty(columns, given);
    return { sql: `INSERT INTO ${names[table]} (${list}) VALUES ?`, values: [rows] };
  });
}

/** Columns that hold nothing in any of the rows are left out, which spares the server a quarter of the work. */
export function withoutEmpty(columns: readonly string[], rows: readonly RowValues[]) {
  const used: number[] = [];
  for (let n = 0; n < columns.length; n += 1) if (rows.some((row) => row[n] !== null)) used.push(n);
  return {
    list: used.map((n) => quoted(columns[n] as string)).join(", "),
    rows: rows.map((row) => used.map((n) => row[n] as SqlValue)),
  };
}

/**
 * The rows of values come first, so that the others are found by key and locked in the order given. One row alone needs
 * no table for itself, unless the condition speaks of it.
 */
export function updateRows(
  names: TableNames,
  table: Table,
  keys: readonly string[],
  columns: readonly string[],
  where?: string,
  compared: readonly string[] = [],
): RowsStatement {
  const all = [...keys, ...columns, ...compared];
  const condition = where === undefined ? "" : ` AND (${where})`;
  const assigned = (value: (column: string) => string): string =>
    columns.map((column) => `t.${quoted(column)} = ${value(column)}`).join(", ");
  const matched = (value: (column: string) => string): string =>
    keys.map((column) => `t.${quoted(column)} = ${value(column)}`).join(" AND ");
  const given = (column: string): string => `v.${quoted(column)}`;
  const first = all.map((column) => `? AS ${quoted(column)}`).join(", ");
  const one = `UPDATE ${names[table]} AS t SET ${assigned(() => "?")} WHERE ${matched(() => "?")}${condition}`;
  const many = `STRAIGHT_JOIN ${names[table]} AS t ${byKey} ON ${matched(given)} SET ${assigned(given)} WHERE TRUE${condition}`;
  const isAlone = !where?.includes("v.");

  return divisible((rows) => {
    const [only] = rows;
    return rows.length === 1 && only !== undefined && isAlone
      ? { sql: one, values: [...only.slice(keys.length), ...only.slice(0, keys.length)] }
      : { sql: `UPDATE (${select(first, all.length, rows.length)}) v ${many}`, values: rows.flat() };
  });
}

/** The sequence of a row given is how many of its run come behind it, and its run's row says how many there are. */
export function appendLogRows(names: TableNames, columns: readonly string[]): RowsStatement {
  const first = columns.map((column) => `? AS ${quoted(column)}`).join(", ");
  const read = columns.map((column) => (column === "seq" ? "r.log_seq - v.seq" : `v.${quoted(column)}`));
  return divisible((rows) => ({
    sql:
      `INSERT INTO ${names.log} (${columns.map(quoted).join(", ")}) SELECT ${read.join(", ")} ` +
      `FROM (${select(first, columns.length, rows.length)}) v STRAIGHT_JOIN ${names.run} r ${byKey} ON r.id = v.run`,
    values: rows.flat(),
  }));
}

export function putRows(
  names: TableNames,
  table: Table,
  keys: readonly string[],
  columns: readonly string[],
  how: "replace" | "add",
): RowsStatement {
  const set = columns.map(quoted).map((column) => {
    const given = `VALUES(${column})`;
    return `${column} = ${how === "add" ? `${column} + ${given}` : given}`;
  });
  const list = [...keys, ...columns].map(quoted).join(", ");
  return divisible((rows) => ({
    sql: `INSERT INTO ${names[table]} (${list}) VALUES ? ON DUPLICATE KEY UPDATE ${set.join(", ")}`,
    values: [rows],
  }));
}

export function forgetRows(names: TableNames, table: Table, column: string, limit: number): string {
  return `DELETE FROM ${names[table]} WHERE ${quoted(column)} < ? ORDER BY ${quoted(column)} LIMIT ${limit}`;
}

/** By key and in the order given, like an update. */
export function removeRows(names: TableNames, table: Table, keys: readonly string[]): RowsStatement {
  const first = keys.map((key) => `? AS ${quoted(key)}`).join(", ");
  const matched = keys.map((key) => `t.${quoted(key)} = v.${quoted(key)}`).join(" AND ");
  return divisible((rows) => ({
    sql:
      `DELETE t FROM (${select(first, keys.length, rows.length)}) v ` +
      `STRAIGHT_JOIN ${names[table]} AS t ${byKey} ON ${matched}`,
    values: rows.flat(),
  }));
}

export function quoted(column: string): string {
  return `\`${column}\``;
}

function typed(column: string): string {
  return columnType(column) === "text" ? "CAST(? AS BINARY)" : "?";
}

function select(first: string, columns: number, rows: number): string {
  const others = ` UNION ALL SELECT ${Array(columns).fill("?").join(", ")}`;
  return `SELECT ${first}${others.repeat(rows - 1)}`;
}

export function divisible(make: (rows: readonly RowValues[]) => Statement): RowsStatement {
  return (rows) => {
    const middle = Math.ceil(rows.length / 2);
    const halve = (): readonly Statement[] => {
      const again = divisible(make);
      return [again(rows.slice(0, middle)), again(rows.slice(middle))];
    };
    return rows.length > 1 ? ({ ...make(rows), halve } as RowsOfStatement) : make(rows);
  };
}
