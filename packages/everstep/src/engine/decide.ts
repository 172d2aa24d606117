import { decodeValue } from "../authoring/codec.ts";
import { EverstepError } from "../model/error.ts";
import type { EventRecord } from "../model/event.ts";
import type { SettledStep, StepRecord, StepType, WaitingStep } from "../model/step.ts";
import { endsWait } from "../model/wait-match.ts";

/** What a step call comes to, given what is recorded, which events are there and what time it is. */
export type Decision =
  /** Answer from history. */
  | { readonly kind: "settled"; readonly record: SettledStep }
  /** Run the body now. */
  | { readonly kind: "attempt" }
  /** A sleep is over. */
  | { readonly kind: "wake"; readonly skippedBy: EventRecord | null }
  /** An event is there for the wait. */
  | { readonly kind: "consume"; readonly event: EventRecord }
  /** The wait is over without an event. */
  | { readonly kind: "timeout"; readonly wait: WaitingStep }
  /** Retries were used up before: fail with the last error without running the body. */
  | { readonly kind: "exhausted"; readonly wait: WaitingStep }
  /** Nothing to do before this time. */
  | { readonly kind: "wait"; readonly until: number };

/** A call, as far as deciding needs it. For a new sleep or wait `wakeAt` is when it will be over. */
export interface StepCall {
  readonly key: string;
  readonly name: string;
  readonly type: StepType;
  readonly wakeAt: number | null;
  readonly eventType: string | null;
}

export function decide(
  call: StepCall,
  known: StepRecord | undefined,
  events: readonly EventRecord[],
  now: number,
): Decision {
  if (known && known.type !== call.type) throw typeMismatch(call, known.type);
  if (known && known.status !== "waiting") return { kind: "settled", record: known };
  switch (call.type) {
    case "do":
      return decideDo(known, now);
    case "sleep":
      return decideSleep(call, known, events, now);
    case "waitForEvent":
      return decideWait(call, known, events, now);
  }
}

export function typeMismatch(call: { readonly name: string; readonly type: StepType }, recorded: StepType) {
  return new EverstepError(
    "STEP_TYPE_MISMATCH",
    `Step "${call.name}" is recorded as ${recorded} but the code now asks for it as ${call.type}. ` +
      "Give the new step another name, or restart the instance.",
    { details: { step: call.name, recorded, asked: call.type } },
  );
}

/** The oldest event this wait may take. */
export function eventFor(
  wait: { readonly key: string; readonly eventType: string | null },
  wakeAt: number,
  events: readonly EventRecord[],
): EventRecord | null {
  const { key, eventType } = wait;
  return events.find((event) => endsWait(event, { key, eventType, wakeAt })) ?? null;
}

function decideDo(known: WaitingStep | undefined, now: number): Decision {
  if (!known) return { kind: "attempt" };
  if (known.maxAttempts !== null && known.attempts >= known.maxAttempts)
    return { kind: "exhausted", wait: known };
  return known.wakeAt > now ? { kind: "wait", until: known.wakeAt } : { kind: "attempt" };
}

function decideSleep(
  call: StepCall,
  known: WaitingStep | undefined,
  events: readonly EventRecord[],
  now: number,
): Decision {
  const until = known?.wakeAt ?? call.wakeAt ?? now;
  if (until <= now) return { kind: "wake", skippedBy: null };
  const skip = known ? skipOf(known, events) : undefined;
  return skip ? { kind: "wake", skippedBy: skip } : { kind: "wait", until };
}

/** The event that ends this very sleep; those of earlier versions name none. */
function skipOf(sleep: WaitingStep, events: readonly EventRecord[]): EventRecord | undefined {
  return events.find((event) => {
    if (!endsWait(event, { ...sleep, wakeAt: Number.POSITIVE_INFINITY })) return false;
    const meant = decodeValue(event.payload);
    return meant === undefined || meant === sleep.createdAt;
  });
}

function decideWait(
  call: StepCall,
  known: WaitingStep | undefined,
  events: readonly EventRecord[],
  now: number,
): Decision {
  const until = known?.wakeAt ?? call.wakeAt ?? now;
  const event = eventFor(call, until, events);
  if (event) return { kind: "consume", event };
  return known && until <= now ? { kind: "timeout", wait: known } : { kind: "wait", until };
}
