/**
 * Statements travel as text, several at once, so values have to become text too: numbers, strings, null, bytes, and lists
 * of those. Most texts hold nothing that would mean something within quotes; the driver escapes those that do.
 */
import { StoreError } from "../../model/error.ts";
import { escapeText } from "../sql/rows/text-escape.ts";
import type { Statement } from "../sql/session.ts";
import type { Driver } from "./driver.ts";

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
