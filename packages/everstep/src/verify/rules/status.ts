import { type InstanceRecord, isTerminal } from "../../model/instance.ts";
import type { RunFacts } from "../run-facts.ts";
import type { Found } from "../violation.ts";

/** The status and the facts that belong to it are written together, so they say the same (INV-37). */
export function* statusRules({ record, isCurrent }: RunFacts): Generator<Found> {
  for (const message of contradictions(record)) yield { invariant: "INV-37", message };
  if (!isCurrent && !isTerminal(record.status)) {
    yield {
      invariant: "INV-38",
      message: `A later run has begun, but this one is still ${record.status}: a restart ends the run before it.`,
    };
  }
}

function* contradictions(record: InstanceRecord): Generator<string> {
  const { status, completedAt, pausedAt, startedAt, executing, token } = record;
  yield* onlyFor(record, "complete", record.output !== null, "an output");
  yield* onlyFor(record, "errored", record.error !== null, "an error");
  yield* onlyFor(record, "terminated", record.terminationReason !== null, "a termination reason");
  yield* onlyFor(record, "paused", pausedAt !== null, "a time since when it is paused");
  if (record.deadLetter && status !== "errored") yield `The run is ${status} but marked as a dead letter.`;
  if (isTerminal(status) && completedAt === null) yield `The run is ${status} but has no time of its end.`;
  if (!isTerminal(status) && completedAt !== null) yield `The run is ${status} but has a time of its end.`;
  const wasHeld = executing || status === "waiting" || status === "complete";
  if (wasHeld && startedAt === null) yield `The run is ${words(record)} but has never been started.`;
  if (startedAt !== null && token < 1) yield "The run was started but has never had a lease.";
  const { retentionMs, retentionUntil } = record;
  const expected = completedAt === null || retentionMs === null ? null : completedAt + retentionMs;
  if (retentionUntil !== expected) {
    yield `The run is kept until ${retentionUntil}, but its end and its retention make it ${expected}.`;
  }
}

function* onlyFor(
  { status }: InstanceRecord,
  owner: InstanceRecord["status"],
  isThere: boolean,
  what: string,
): Generator<string> {
  if (status === owner && !isThere) yield `The run is ${status} but has not got ${what}.`;
  if (status !== owner && isThere) yield `The run is ${status} but has ${what}.`;
}

function words({ status, executing }: InstanceRecord): string {
  return executing ? `${status} and under a lease` : status;
}
