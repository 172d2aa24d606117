import type { RunOutcome } from "../../engine/ending.ts";
import { parseJson } from "../../model/json.ts";
import type { EncodedValue, StoredError } from "../../model/value.ts";
import type { RecordedRun } from "./recorded-run.ts";

/** Whether a run that ended would end alike. Where values were replaced, only the kind of its end can be compared. */
export function sameOutcome(run: RecordedRun, outcome: RunOutcome, redacted: boolean): boolean {
  if (outcome.kind === "complete") {
    if (run.status !== "complete" || run.output === null) return false;
    return redacted || sameValue(run.output, outcome.output);
  }
  if (outcome.kind !== "error" || run.status !== "errored" || run.error === null) return false;
  return redacted || sameError(run.error, outcome.error);
}

/** Equal in everything but the order in which the keys of objects were set, and the stacks of errors. */
export function sameValue(one: EncodedValue, other: EncodedValue): boolean {
  if (one.json === other.json && one.marks === other.marks) return true;
  return comparable(one) === comparable(other);
}

/** Stacks name lines of files, which change with every edit. */
function sameError(one: StoredError, other: StoredError): boolean {
  return one.name === other.name && one.message === other.message && one.code === other.code;
}

type Mark = readonly [path: readonly (string | number)[], tag: string];

function comparable({ json, marks }: EncodedValue): string {
  const value: unknown = parseJson(json);
  const all: readonly Mark[] = marks === null ? [] : parseJson(marks);
  for (const [path, tag] of all) if (tag === "Error") dropStack(value, path);
  return JSON.stringify([inOneOrder(value), all.map((mark) => JSON.stringify(mark)).sort()]);
}

function dropStack(value: unknown, path: readonly (string | number)[]): void {
  const error = path.reduce((inner, key) => (inner as Record<string | number, unknown>)[key], value);
  delete (error as { stack?: unknown }).stack;
}

function inOneOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOneOrder);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return { entries: entries.map(([key, inner]) => [key, inOneOrder(inner)]) };
}
