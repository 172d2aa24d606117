/**
 * Statements travel as text, several at once, so values have to become text too. The driver escapes them; this makes
 * sure that it gets only what it escapes in one way: numbers, strings, null, bytes, and lists of those.
 */
import { StoreError } from "../../model/error.ts";
import type { Statement } from "../sql/session.ts";
import { escapeText } from "../sql/text-escape.ts";
import type { Driver } from "./driver.ts";

export type Render = (statement: Statement) => string;

export function rendering(driver: Pick<Driver, "format">): Render {
  return ({ sql, values }) => (values.length === 0 ? sql : driver.format(sql, values.map(listOrPlain)));
}

/** A list becomes `1, 2`, a list of lists `(1, 2), (3, 4)`. */
function listOrPlain(value: unknown): unknown {
  if (!Array.isArray(value)) return plain(value);
  if (value.length === 0) throw unfit("an empty list");
  return value.map((item) => (Array.isArray(item) ? item.map(plain) : plain(item)));
}

function plain(value: unknown): unknown {
  switch (typeof value) {
    case "string":
      return escapeText(value);
    case "number":
      if (Number.isFinite(value)) return value;
      break;
    case "bigint":
      if (Number.isSafeInteger(Number(value))) return Number(value);
      break;
    case "boolean":
      return value ? 1 : 0;
    case "object":
      if (value === null) return null;
      if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  throw unfit(typeof value === "object" ? "an object" : String(value));
}

function unfit(what: string): StoreError {
  return new StoreError("invalid", "INVALID_ARGUMENT", `${what} cannot be part of an SQL statement.`);
}
