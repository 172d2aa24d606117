/** Plans events that a person, a step or the engine itself sends to one instance. Pure. */
import { checkBytes, encodeValue } from "../authoring/codec.ts";
import { utf8Bytes } from "../authoring/codec-bytes.ts";
import { checkedPayloadNow } from "../authoring/declared-events.ts";
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { checkEventType, checkInstanceId } from "../authoring/names.ts";
import type { OutgoingEvent } from "../authoring/workflow-step.ts";
import { eventBytes } from "../model/bytes.ts";
import { EverstepError } from "../model/error.ts";
import type { InstanceRef } from "../model/instance.ts";
import type { Limits } from "../model/limits.ts";
import type { AlongsideEvent, SendEventRequest } from "../model/request.ts";
import type { Runtime } from "../model/runtime.ts";
import type { WaitingStep } from "../model/step.ts";
import type { EncodedValue } from "../model/value.ts";
import type { Body } from "./body.ts";

export function planSendEvent(
  ref: InstanceRef,
  event: OutgoingEvent,
  limits: Limits,
  id: string,
  now: number,
): SendEventRequest {
  checkEventKey(id);
  const type = checkEventType(event.type, limits);
  const payload = encodeValue(event.payload, "event payload");
  checkBytes(payload, limits.maxEventBytes, "event payload");
  return { ...eventTo(ref, id, now), type, payload, bufferMax: bufferMaxFor(payload, limits) };
}

/** How many events may be buffered before one of this size: fewer large ones than small ones, so that bytes are bounded too. */
function bufferMaxFor(payload: EncodedValue, { maxBufferedEvents, maxBufferedBytes }: Limits): number {
  const fitting = Math.max(1, Math.floor(maxBufferedBytes / eventBytes({ payload })));
  // Either limit may be Infinity, which is no number of rows.
  return Math.min(maxBufferedEvents, fitting, Number.MAX_SAFE_INTEGER);
}

export function planAlongsideEvent(
  ref: InstanceRef,
  event: OutgoingEvent,
  { call, start }: Body,
  definition: WorkflowDefinition | undefined,
  limits: Limits,
  runtime: Runtime,
): AlongsideEvent {
  checkInstanceId(ref.instanceId, limits);
  const type = checkEventType(event.type, limits);
  const payload = definition ? checkedPayloadNow(type, event.payload, definition) : event.payload;
  const id = event.idempotencyKey ?? runtime.uuid();
  const request = planSendEvent(ref, { type, payload }, limits, id, runtime.now());
  return { ...request, from: { stepKey: call.key, attempt: start } };
}

/** What every store has room for where it looks for ids. */
const eventKeyBytesMax = 512;

/** An id that a store would change or cut could be taken for another, and its event be lost as a repeat. */
export function checkEventKey(id: unknown): string {
  const isShort = typeof id === "string" && id !== "" && id.length <= eventKeyBytesMax;
  if (isShort && utf8Bytes(id) <= eventKeyBytesMax && !/\p{Surrogate}/u.test(id)) return id;
  const found = typeof id === "string" ? `a string of ${id.length} characters` : `a ${typeof id}`;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `The idempotencyKey of an event is a string of 1 to ${eventKeyBytesMax} bytes without lone surrogates, not ${found}. ` +
      "Leave it out if the event is sent only once.",
  );
}

/** Ends a sleep early: an event of the engine's own, addressed to it, so that no race can lose it. */
export function planSkipSleep(
  ref: InstanceRef,
  sleep: WaitingStep,
  id: string,
  now: number,
): SendEventRequest {
  return {
    ...eventTo(ref, id, now),
    forStep: sleep.key,
    system: true,
    // Which sleep is meant: the next run may be in one of the same name by the time this arrives.
    payload: encodeValue(sleep.createdAt, "event payload"),
    bufferMax: Number.MAX_SAFE_INTEGER,
  };
}

function eventTo(ref: InstanceRef, id: string, now: number): Omit<SendEventRequest, "bufferMax"> {
  return {
    kind: "sendEvent",
    workflowName: ref.workflowName,
    instanceId: ref.instanceId,
    id,
    type: null,
    forStep: null,
    system: false,
    payload: encodeValue(undefined, "event payload"),
    createdAt: now,
  };
}
