/**
 * How much memory records take, as far as budgets need to know: the characters of their texts, and a fixed share for
 * everything else about a record.
 */
import type { EventRecord } from "./event.ts";
import type { InstanceRecord } from "./instance.ts";
import type { Claim } from "./lease.ts";
import type { StoredLogLine } from "./log-line.ts";
import type { Change, CommitRequest, StoreRequest } from "./request.ts";
import type { StepRecord } from "./step.ts";
import type { EncodedValue, StoredError } from "./value.ts";

/** What a record takes apart from its values. */
export const recordBytes = 256;

export function valueBytes(value: EncodedValue): number {
  return value.json.length + (value.marks === null ? 0 : value.marks.length);
}

export function stepBytes(step: StepRecord): number {
  let bytes = recordBytes + step.key.length;
  if (step.status === "completed") bytes += valueBytes(step.result);
  else if (step.status === "errored") bytes += errorBytes(step.error);
  for (const { error } of step.errors) bytes += recordBytes + errorBytes(error);
  return bytes;
}

export function eventBytes({ payload }: Pick<EventRecord, "payload">): number {
  return recordBytes + valueBytes(payload);
}

export function instanceBytes({ params, output, error }: InstanceRecord): number {
  const ended = (output === null ? 0 : valueBytes(output)) + (error === null ? 0 : errorBytes(error));
  return recordBytes + valueBytes(params) + ended;
}

export function logBytes({ message, data }: Pick<StoredLogLine, "message" | "data">): number {
  return recordBytes + message.length + (data === null ? 0 : valueBytes(data));
}

export function stepsBytes(steps: readonly StepRecord[]): number {
  let bytes = 0;
  for (const step of steps) bytes += stepBytes(step);
  return bytes;
}

export function eventsBytes(events: readonly Pick<EventRecord, "payload">[]): number {
  let bytes = 0;
  for (const event of events) bytes += eventBytes(event);
  return bytes;
}

export function claimBytes({ params }: Pick<Claim, "params">): number {
  return recordBytes + valueBytes(params);
}

export function requestBytes(request: StoreRequest): number {
  switch (request.kind) {
    case "create":
      return recordBytes + valueBytes(request.params) + stepsBytes(request.history);
    case "commit":
      return commitBytes(request);
    case "sendEvent":
    case "publish":
      return eventBytes(request);
    case "change":
      return recordBytes + changeBytes(request.change);
    case "delete":
    case "wake":
    case "abandon":
      return recordBytes;
  }
}

function commitBytes({ boundary, alongside }: CommitRequest): number {
  let bytes = recordBytes + stepsBytes(boundary.steps);
  for (const { data } of boundary.logs) bytes += recordBytes + (data === null ? 0 : valueBytes(data));
  for (const request of alongside) bytes += requestBytes(request);
  if (boundary.next.kind === "complete") bytes += valueBytes(boundary.next.output);
  return bytes;
}

function changeBytes(change: Change): number {
  return change.kind === "restart" ? stepsBytes(change.history) : 0;
}

function errorBytes({ message, stack, cause, properties }: StoredError): number {
  const own = message.length + (stack?.length ?? 0) + (properties === undefined ? 0 : valueBytes(properties));
  return cause === undefined ? own : own + errorBytes(cause);
}
