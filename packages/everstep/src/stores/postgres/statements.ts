/**
 * The shared statements in the words of the driver: numbered parameters, a name for the server to remember the plan of
 * those by that are planned once, lists as array literals, and texts without what PostgreSQL cannot keep.
 */
import type { SqlRow, SqlValue } from "../sql/rows/row.ts";
import { escapeText, unescapeText } from "../sql/rows/text-escape.ts";
import { columnType, type Table } from "../sql/schema/table.ts";
import type { Statement } from "../sql/session.ts";
import type { DriverQuery } from "./driver.ts";

export type Render = (statement: Statement) => DriverQuery;

/** Texts are few and fixed; a bound all the same, so that a mistake costs speed and not memory. */
const textsMax = 1000;

export function rendering(prepares: boolean): Render {
  const texts = new Map<string, { readonly text: string; readonly name: string }>();
  return ({ sql, values, isPlannedOnce = false }) => {
    let known = texts.get(sql);
    if (known === undefined) {
      known = { text: numbered(sql), name: `everstep_${texts.size + 1}` };
      if (texts.size < textsMax) texts.set(sql, known);
    }
    const query = { text: known.text, values: values.map(literal), types };
    return prepares && isPlannedOnce && texts.has(sql) ? { ...query, name: known.name } : query;
  };
}

/** The driver's own parsers may have been replaced by the application. 16 is a boolean, 21 and 23 small integers. */
const types = {
  getTypeParser: (type: number) => (value: string) =>
    type === 16 ? value === "t" : type === 21 || type === 23 ? Number(value) : unescapeText(value),
};

function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll("?", () => {
    count += 1;
    return `$${count}`;
  });
}

function literal(value: unknown): unknown {
  if (typeof value === "string") return escapeText(value);
  return Array.isArray(value) ? `{${value.map(element).join(",")}}` : value;
}

function element(value: unknown): string {
  if (value === null) return "NULL";
  if (typeof value !== "string") return String(value);
  return `"${escapeText(value).replace(/["\\]/g, "\\$&")}"`;
}

/** Rows as they were written, of a client that reads them in its own way. */
export function readRows(rows: readonly SqlRow[]): readonly SqlRow[] {
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([column, value]) => [
        column,
        typeof value === "string" ? unescapeText(value) : value,
      ]),
    ),
  );
}

/**
 * The values of one column as one parameter, in the server's own binary form: nothing has to be quoted here or parsed
 * there.
 */
const headBytes = 20;
const integerType = 20;
const textType = 25;
const nullLength = -1;

export function integerArray(values: readonly (number | null)[]): Buffer {
  const bytes = Buffer.allocUnsafe(headBytes + values.length * 12);
  let at = writeHead(bytes, integerType, values.length);
  for (const value of values) {
    if (value === null) {
      at = bytes.writeInt32BE(nullLength, at);
      continue;
    }
    at = bytes.writeInt32BE(8, at);
    // Any safe integer, also a negative one: the upper half is rounded down, the lower half is what is left.
    const upper = Math.floor(value / 0x1_0000_0000);
    at = bytes.writeInt32BE(upper, at);
    at = bytes.writeUInt32BE(value - upper * 0x1_0000_0000, at);
  }
  return bytes.subarray(0, at);
}

export function textArray(values: readonly (string | null)[]): Buffer {
  const texts = values.map((value) => (value === null ? null : escapeText(value)));
  let size = headBytes + texts.length * 4;
  for (const text of texts) if (text !== null) size += Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(size);
  let at = writeHead(bytes, textType, texts.length);
  for (const text of texts) {
    if (text === null) {
      at = bytes.writeInt32BE(nullLength, at);
      continue;
    }
    const length = bytes.write(text, at + 4);
    bytes.writeInt32BE(length, at);
    at += 4 + length;
  }
  return bytes;
}

/** One dimension, counted from 1, in which nulls may be. */
function writeHead(bytes: Buffer, type: number, length: number): number {
  let at = bytes.writeInt32BE(1, 0);
  at = bytes.writeInt32BE(1, at);
  at = bytes.writeInt32BE(type, at);
  at = bytes.writeInt32BE(length, at);
  return bytes.writeInt32BE(1, at);
}

/**
 * Rows that travel with a statement. A single row is a row of plain values, which the server plans and runs like any
 * constants; of more, every column is one array, so that a text fits any number of them.
 */
export interface Column<Row> {
  readonly name: string;
  readonly isText: boolean;
  of(row: Row): SqlValue;
}

/** The type follows from the name. */
export function column<Row>(name: string, of: (row: Row) => SqlValue, table?: Table): Column<Row> {
  return { name, isText: columnType(name, table) === "text", of };
}

/** Columns of rows that are lists already. */
export function columnsAt(names: readonly string[], table?: Table): readonly Column<readonly SqlValue[]>[] {
  return names.map((name, at) => column(name, (row: readonly SqlValue[]) => row[at] ?? null, table));
}

/**
 * As a table to read from, with the number its first parameter has. `only`: the columns that are wanted, where they are
 * fewer than were given.
 */
export function tableText<Row>(
  alias: string,
  columns: readonly Column<Row>[],
  isMany: boolean,
  first: number,
  only?: readonly string[],
): string {
  const numbered = columns.map(({ name, isText }, n) => {
    const type = isText ? "text" : "bigint";
    return { name, parameter: `$${first + n}::${isMany ? `${type}[]` : type}` };
  });
  const wanted = numbered.filter(({ name }) => only === undefined || only.includes(name));
  return isMany
    ? `unnest(${wanted.map(({ parameter }) => parameter).join(", ")}) AS ${alias} (${wanted.map(({ name }) => name).join(", ")})`
    : `(SELECT ${wanted.map(({ name, parameter }) => `${parameter} AS ${name}`).join(", ")}) AS ${alias}`;
}

/**
 * A row of a table for every given one. As a plain equation it could be read from the table's side too, whole and in
 * order; like this there is only the other way.
 */
export function sameKey(key: string, given: string, isMany: boolean): string {
  return isMany ? `${key} = ANY (ARRAY[${given}])` : `${key} = ${given}`;
}

export function tableValues<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  isMany: boolean,
): readonly unknown[] {
  if (!isMany) return columns.map(({ of }) => of(rows[0] as Row));
  return columns.map(({ isText, of }) =>
    isText
      ? textArray(rows.map((row) => of(row) as string | null))
      : integerArray(rows.map((row) => of(row) as number | null)),
  );
}
