/**
 * How records are written: a header in JSON, which has no line break of its own, and behind the first one the payload as
 * it is. So the server never parses a payload, and a large one is never escaped.
 */
import { parseJson } from "../../../model/json.ts";
import type { EncodedValue, StoredError } from "../../../model/value.ts";
import { unreadable } from "../server/script-values.ts";

export function recordText(header: readonly unknown[], value: EncodedValue | null): string {
  return value === null
    ? JSON.stringify(header)
    : `${JSON.stringify([...header, value.marks])}\n${value.json}`;
}

export interface ReadRecord {
  readonly header: readonly unknown[];
  readonly value: EncodedValue | null;
}

/** `size` is the number of header fields, the marks of a payload not counted. */
export function readRecord(record: string, size: number): ReadRecord {
  const end = record.indexOf("\n");
  const header = parse(end === -1 ? record : record.slice(0, end));
  if (!Array.isArray(header) || header.length !== size + (end === -1 ? 0 : 1)) {
    throw unreadable(`a record of ${size} fields`, record);
  }
  if (end === -1) return { header, value: null };
  const marks: unknown = header[size];
  if (marks !== null && typeof marks !== "string") throw unreadable("the marks of a value", record);
  return { header, value: { json: record.slice(end + 1), marks } };
}

export function parse(json: string): unknown {
  try {
    return parseJson(json);
  } catch (cause) {
    throw unreadable("JSON", json, cause);
  }
}

export function checkStoredError(value: unknown): StoredError {
  const error = value as Partial<StoredError> | null;
  if (typeof error !== "object" || error === null || typeof error.message !== "string") {
    throw unreadable("an error", JSON.stringify(value));
  }
  return error as StoredError;
}
