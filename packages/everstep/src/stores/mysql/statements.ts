/**
 * Statements travel as text, several at once, so values have to become text too: numbers, strings, null, bytes, and lists
 * of those. Most texts hold nothing that would mean something within quotes; the driver escapes those that do.
 */
import { StoreError } from "../../model/error.ts";
import type { RowsPart, RowsStatement, RowValues } from "../sql/dialect.ts";
import type { SqlRow, SqlValue } from "../sql/rows/row.ts";
import { escapeText, unescapeText } from "../sql/rows/text-escape.ts";
import { columnType, type Table, type TableNames } from "../sql/schema/table.ts";
import type { SqlResult, Statement } from "../sql/session.ts";
import type { Driver } from "./driver.ts";
import type { ServerFacts } from "./session.ts";

export type Render = (statement: Statement) => string;

export function rendering({ format }: Pick<Driver, "format">): Render {
  const literal = (value: unknown): string => {
    if (typeof value === "string") return needsEscape.test(value) ? escaped(value) : `'${value}'`;
    if (typeof value === "number" && Number.isFinite(value)) return String(value);
    return value === null ? "NULL" : rarer(value);
  };
  const escaped = (value: string | Uint8Array): string =>
    format("?", [
      typeof value === "string"
        ? escapeText(value)
        : Buffer.from(value.buffer, value.byteOffset, value.byteLength),
    ]);
  const rarer = (value: unknown): string => {
    if (typeof value === "boolean") return value ? "1" : "0";
    if (typeof value === "bigint" && Number.isSafeInteger(Number(value))) return String(value);
    if (value instanceof Uint8Array) return escaped(value);
    throw unfit(typeof value === "object" ? "an object" : String(value));
  };
  /** A list becomes `1,2`, a list of lists `(1,2),(3,4)`. */
  const listOrLiteral = (value: unknown): string => {
    if (!Array.isArray(value)) return literal(value);
    if (value.length === 0) throw unfit("an empty list");
    let text = "";
    for (const item of value) {
      if (text !== "") text += ",";
      text += Array.isArray(item) ? `(${literals(item)})` : literal(item);
    }
    return text;
  };
  const literals = (values: readonly unknown[]): string => {
    let text = "";
    for (const value of values) text += text === "" ? literal(value) : `,${literal(value)}`;
    return text;
  };

  return ({ sql, values }) => {
    if (values.length === 0) return sql;
    const pieces = sql.split("?");
    if (pieces.length !== values.length + 1) throw unfit(`a statement with ${values.length} values`);
    let text = pieces[0] as string;
    for (let n = 0; n < values.length; n += 1) text += listOrLiteral(values[n]) + pieces[n + 1];
    return text;
  };
}

/** What ends a text or escapes something in it, what `escapeText` changes, and what only half of a character may be. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const needsEscape = /['\\\u0000\u0001\u001a\ud800-\udfff]/;

function unfit(what: string): StoreError {
  return new StoreError("invalid", "INVALID_ARGUMENT", `${what} cannot be part of an SQL statement.`);
}

/** How statements are laid out for the way: as many in one packet as the server accepts, so mostly all of them. */
interface Packet {
  readonly sql: string;
  /** How many answers come back. */
  readonly count: number;
}

interface Layout {
  readonly packets: readonly Packet[];
  /** One result for each statement, from the answers to all packets. */
  collect(answers: readonly SqlResult[]): readonly SqlResult[];
}

// The server counts the command itself and keeps a reserve for its own additions.
const reserveBytes = 1024;
// On a line of its own, so that no comment can swallow it.
const separator = "\n;\n";

export function layOut(statements: readonly Statement[], render: Render, maxBytes: number): Layout {
  const room = maxBytes - reserveBytes;
  const texts = statements.map((statement) => textsOf(statement, render, room));
  return {
    packets: fill(texts.flat(), room),
    collect(answers) {
      let end = 0;
      return texts.map(({ length }) => {
        end += length;
        return merge(answers.slice(end - length, end));
      });
    },
  };
}

function textsOf(statement: Statement, render: Render, room: number): readonly string[] {
  const text = render(statement);
  if (sizeOf(text) <= room) return [text];
  if (isDivisible(statement)) return statement.halve().flatMap((half) => textsOf(half, render, room));
  throw tooLarge(sizeOf(text), room);
}

function fill(texts: readonly string[], room: number): readonly Packet[] {
  const groups: string[][] = [];
  let left = 0;
  for (const text of texts) {
    if (sizeOf(text) > left) {
      groups.push([]);
      left = room;
    }
    groups.at(-1)?.push(text);
    left -= sizeOf(text);
  }
  return groups.map((group) => ({ sql: group.join(separator), count: group.length }));
}

function sizeOf(text: string): number {
  return Buffer.byteLength(text) + separator.length;
}

function merge(answers: readonly SqlResult[]): SqlResult {
  const [only] = answers;
  if (answers.length === 1 && only !== undefined) return only;
  return {
    rows: answers.flatMap(({ rows }) => rows),
    changes: answers.reduce((sum, { changes }) => sum + changes, 0),
  };
}

function tooLarge(bytes: number, room: number): StoreError {
  return new StoreError(
    "too-large",
    "PAYLOAD_TOO_LARGE",
    `A statement of ${bytes} bytes is more than the server accepts at once (${room} bytes). ` +
      "Raise max_allowed_packet, or keep large values elsewhere and store where they are.",
  );
}

/**
 * Statements out, results back.
 *
 * One round trip, unless the statements are too large for one packet. Throws the driver's own error.
 */
export async function exchange(
  connection: { readonly facts: Pick<ServerFacts, "maxPacketBytes">; send(sql: string): Promise<unknown> },
  render: Render,
  statements: readonly Statement[],
): Promise<readonly SqlResult[]> {
  const { packets, collect } = layOut(statements, render, connection.facts.maxPacketBytes);
  const results: SqlResult[] = [];
  for (const { sql, count } of packets) {
    const answer = await connection.send(sql);
    const answers = count === 1 ? [answer] : (answer as readonly unknown[]);
    results.push(...answers.map(toResult));
  }
  return collect(results);
}

function toResult(answer: unknown): SqlResult {
  if (Array.isArray(answer)) return { rows: withTexts(answer as Record<string, unknown>[]), changes: 0 };
  const { affectedRows: changes, insertId } = answer as Counts;
  const result: SqlResult = { rows: noRows, changes };
  if (insertId) marked.add(result);
  return result;
}

interface Counts {
  readonly affectedRows: number;
  readonly insertId?: number;
}

const noRows: readonly SqlRow[] = [];
const marked = new WeakSet<SqlResult>();

/** The statement called LAST_INSERT_ID, which nothing else does here: no table numbers its rows by itself. */
export function isMarked(result: SqlResult | undefined): boolean {
  return result !== undefined && marked.has(result);
}

/** What lies in columns of bytes is text all the same. */
function withTexts(rows: readonly Record<string, unknown>[]): readonly SqlRow[] {
  for (const row of rows) {
    for (const column in row) {
      const value = row[column];
      if (typeof value === "string") row[column] = unescapeText(value);
      else if (value instanceof Buffer) row[column] = unescapeText(value.toString());
    }
  }
  return rows;
}

/**
 * Statements over many rows at once, and rows of values as a table to read from.
 *
 * Behind the alias of a table whose rows are to be locked: while a table is small the server would rather read all of it,
 * and so lock, or wait for, rows that are nobody's business.
 */
export const byKey = "FORCE INDEX (PRIMARY)";

/** What it does for many rows it may do in two parts, when it is too large for one packet. */
interface RowsOfStatement extends Statement {
  halve(): readonly Statement[];
}

function isDivisible(statement: Statement): statement is RowsOfStatement {
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
function withoutEmpty(columns: readonly string[], rows: readonly RowValues[]) {
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

function divisible(make: (rows: readonly RowValues[]) => Statement): RowsStatement {
  return (rows) => {
    const middle = Math.ceil(rows.length / 2);
    const halve = (): readonly Statement[] => {
      const again = divisible(make);
      return [again(rows.slice(0, middle)), again(rows.slice(middle))];
    };
    return rows.length > 1 ? ({ ...make(rows), halve } as RowsOfStatement) : make(rows);
  };
}

export function putStepRows(names: TableNames, columns: readonly string[]): RowsStatement {
  const put = putFencedStepRows(names, columns);
  return (rows) => put(rows, { fenced: 0, areNew: false });
}

/**
 * `fenced`: fails unless the statement before it has changed so many rows; 0 for any number. `areNew`: none of them should
 * replace a wait; fails when one does.
 */
interface StepRowsCheck {
  readonly fenced: number;
  readonly areNew: boolean;
}

export function putFencedStepRows(
  names: TableNames,
  columns: readonly string[],
): (rows: readonly RowValues[], check: StepRowsCheck) => Statement {
  // Assignments are made one after the other, so the status that decides all of them is assigned last.
  const replaced = columns.filter((column) => !["run", "step_index", "status"].includes(column));
  const assignments = [...replaced, "status"].map((column) => {
    const name = quoted(column);
    return `${name} = IF(status = 'waiting', VALUES(${name}), ${name})`;
  });
  const replace = ` ON DUPLICATE KEY UPDATE ${assignments.join(", ")}`;

  return (all, { fenced, areNew }) =>
    divisible((given) => {
      const { list, rows } = withoutEmpty(columns, given);
      const into = `INSERT INTO ${names.step} (${list}) VALUES`;
      const behind = areNew ? "" : replace;
      const [first, ...others] = rows;
      if (fenced === 0 || given[0] !== all[0] || first === undefined) {
        return { sql: `${into} ?${behind}`, values: [rows] };
      }
      // The run, which comes first, is never null.
      const checked = `${into} (IF(ROW_COUNT() = ?, ?, NULL), ?)`;
      const values = [fenced, first[0], first.slice(1)];
      return others.length === 0
        ? { sql: `${checked}${behind}`, values }
        : { sql: `${checked}, ?${behind}`, values: [...values, others] };
    })(all);
}
