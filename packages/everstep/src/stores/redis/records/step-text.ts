import type { AttemptError, StepRecord, StepStatus, StepType, WaitsFor } from "../../../model/step.ts";
import { unreadable, word } from "../server/script-values.ts";
import { checkStoredError, readRecord, recordText } from "./record-text.ts";

const types: readonly StepType[] = ["do", "sleep", "waitForEvent"];
const statuses: readonly StepStatus[] = ["completed", "waiting", "errored"];
const waits: readonly WaitsFor[] = ["timer", "retry", "event"];
const fields = 21;

export function stepText(step: StepRecord): string {
  const isWaiting = step.status === "waiting";
  const header = [
    step.index,
    step.key,
    step.name,
    step.count,
    step.type,
    step.status,
    step.parentKey,
    step.depth,
    step.createdAt,
    step.attempts,
    step.starts,
    step.maxAttempts,
    step.timeoutMs,
    step.eventType,
    step.topic,
    isWaiting ? step.waitsFor : null,
    // Of an open wait it is kept apart, because it may still move.
    isWaiting ? null : step.wakeAt,
    isWaiting ? null : step.settledIndex,
    isWaiting ? null : step.settledAt,
    step.errors,
    step.status === "errored" ? step.error : null,
  ];
  return recordText(header, step.status === "completed" ? step.result : null);
}

/** `wakeAt` is the end of an open wait. */
export function readStep(record: string, wakeAt: number | null): StepRecord {
  const { header, value } = readRecord(record, fields);
  const facts = {
    index: integerAt(header, 0),
    key: textAt(header, 1),
    name: textAt(header, 2),
    count: integerAt(header, 3),
    type: word(header[4], types),
    parentKey: header[6] as string | null,
    depth: integerAt(header, 7),
    createdAt: integerAt(header, 8),
    attempts: integerAt(header, 9),
    starts: integerAt(header, 10),
    maxAttempts: header[11] as number | null,
    timeoutMs: header[12] as number | null,
    eventType: header[13] as string | null,
    topic: header[14] as string | null,
    errors: readAttemptErrors(header[19]),
  };
  const status = word(header[5], statuses);
  if (status === "waiting") {
    if (wakeAt === null) throw unreadable("the end of a wait", wakeAt);
    return { ...facts, status, waitsFor: word(header[15], waits), wakeAt };
  }
  const settled = {
    ...facts,
    wakeAt: header[16] as number | null,
    settledIndex: integerAt(header, 17),
    settledAt: integerAt(header, 18),
  };
  if (status === "errored") return { ...settled, status, error: checkStoredError(header[20]) };
  if (value === null) throw unreadable("a result", record);
  return { ...settled, status, result: value };
}

function readAttemptErrors(list: unknown): readonly AttemptError[] {
  if (!Array.isArray(list)) throw unreadable("the errors of attempts", JSON.stringify(list));
  for (const failure of list) {
    if (typeof failure?.attempt !== "number")
      throw unreadable("the error of an attempt", JSON.stringify(failure));
    checkStoredError(failure.error);
  }
  return list as readonly AttemptError[];
}

function integerAt(header: readonly unknown[], place: number): number {
  const value = header[place];
  if (!Number.isSafeInteger(value)) throw unreadable("a number", value);
  return value as number;
}

function textAt(header: readonly unknown[], place: number): string {
  const value = header[place];
  if (typeof value !== "string") throw unreadable("a text", value);
  return value;
}
