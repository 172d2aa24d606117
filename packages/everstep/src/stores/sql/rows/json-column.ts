/** Small structures kept as JSON text in one column. Payloads are not among them: those are opaque to a store. */
import type { BegunBody, TerminationReason } from "../../../model/instance.ts";
import { parseJson } from "../../../model/json.ts";
import type { AttemptError } from "../../../model/step.ts";
import type { EncodedValue, StoredError } from "../../../model/value.ts";
import { type SqlRow, text, textOrNull, unreadable } from "./row.ts";

const none: readonly never[] = [];

/** Nothing in flight is the common case and costs no text. */
export function begunText(begun: readonly BegunBody[]): string | null {
  return begun.length === 0 ? null : JSON.stringify(begun);
}

export function readBegun(row: SqlRow, column: string): readonly BegunBody[] {
  return readList(row, column, (body: BegunBody) => {
    return typeof body.key === "string" && typeof body.start === "number" && typeof body.at === "number";
  });
}

export function attemptErrorsText(errors: readonly AttemptError[]): string | null {
  return errors.length === 0 ? null : JSON.stringify(errors);
}

export function readAttemptErrors(row: SqlRow, column: string): readonly AttemptError[] {
  return readList(row, column, (failure: AttemptError) => {
    return typeof failure.attempt === "number" && isStoredError(failure.error);
  });
}

export function readStoredError(row: SqlRow, column: string): StoredError {
  const error = parse(column, text(row, column));
  if (!isStoredError(error)) throw unreadable(column, row[column]);
  return error;
}

export function readReason(row: SqlRow, column: string): TerminationReason | null {
  if (row[column] === null) return null;
  const reason = parse(column, text(row, column)) as TerminationReason | null;
  if (typeof reason?.source !== "string") throw unreadable(column, row[column]);
  return reason;
}

export function readRunList(row: SqlRow, column: string): readonly number[] {
  const runs = parse(column, text(row, column));
  if (!Array.isArray(runs) || !runs.every(Number.isSafeInteger)) throw unreadable(column, row[column]);
  return runs as number[];
}

/** A payload lies in two columns, the text and the marks beside it. */
export function readValue(row: SqlRow, column: string): EncodedValue {
  return { json: text(row, column), marks: textOrNull(row, `${column}_marks`) };
}

export function readValueOrNull(row: SqlRow, column: string): EncodedValue | null {
  return row[column] === null ? null : readValue(row, column);
}

function readList<Item>(row: SqlRow, column: string, fits: (item: Item) => boolean): readonly Item[] {
  if (row[column] === null) return none;
  const list = parse(column, text(row, column));
  if (!Array.isArray(list) || !list.every((item) => isObject(item) && fits(item as Item))) {
    throw unreadable(column, row[column]);
  }
  return list as readonly Item[];
}

function parse(column: string, json: string): unknown {
  try {
    return parseJson(json);
  } catch (cause) {
    throw unreadable(column, json, cause);
  }
}

function isStoredError(value: unknown): value is StoredError {
  return isObject(value) && "message" in value && typeof value.message === "string";
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
