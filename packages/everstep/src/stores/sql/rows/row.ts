/** A row as a driver hands it over: columns by name. Everything read from one is checked, because a file can rot. */
import { EverstepError } from "../../../model/error.ts";

export type SqlValue = null | number | bigint | string | Uint8Array;
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

export type SqlRow = Readonly<Record<string, unknown>>;

/** What the columns of a selection are called: `r.id AS run` is `run`. */
export function selectedNames(selection: readonly string[]): readonly string[] {
  return selection.map((column) => column.slice(column.search(/\w+$/)));
}

export function integer(row: SqlRow, column: string): number {
  const value = row[column];
  if (Number.isSafeInteger(value)) return value as number;
  // Some drivers give 64-bit columns as text or bigint.
  const isNumeric = typeof value === "bigint" || (typeof value === "string" && value !== "");
  const number = isNumeric ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw unreadable(column, value);
  return number;
}

export function integerOrNull(row: SqlRow, column: string): number | null {
  return row[column] === null ? null : integer(row, column);
}

export function text(row: SqlRow, column: string): string {
  const value = row[column];
  if (typeof value === "string") return value;
  // Asked for as bytes where a driver would cut it short.
  if (value instanceof Uint8Array) return utf8.decode(value);
  throw unreadable(column, value);
}

export function textOrNull(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

/** Databases without a boolean type keep 0 and 1. */
export function flag(row: SqlRow, column: string): boolean {
  const value = row[column];
  return value === true || value === 1 || value === 1n;
}

/** One of a closed set of words. */
export function word<Word extends string>(row: SqlRow, column: string, words: readonly Word[]): Word {
  const value = row[column] as Word;
  if (!words.includes(value)) throw unreadable(column, value);
  return value;
}

export function unreadable(column: string, value: unknown, cause?: unknown): EverstepError {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : String(value);
  return new EverstepError(
    "HISTORY_UNREADABLE",
    `A stored row cannot be read: column "${column}" holds ${shown}. ` +
      "The row was changed by something else or is damaged; restore it from a backup or remove the instance.",
    { details: { column }, ...(cause === undefined ? {} : { cause }) },
  );
}
