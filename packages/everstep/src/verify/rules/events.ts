import type { EventRecord } from "../../model/event.ts";
import type { StepRecord } from "../../model/step.ts";
import { endsWait } from "../../model/wait-match.ts";
import type { RunFacts } from "../run-facts.ts";
import type { Found } from "../violation.ts";

/** Each event is taken by one wait (INV-22, INV-24), in time (INV-26), the oldest first (INV-24). */
export function* eventRules({ steps, events }: RunFacts): Generator<Found> {
  const byKey = new Map(steps.map((step) => [step.key, step]));
  const takers = new Map<string, EventRecord>();
  yield* repeated(events);
  for (const event of events) {
    const { seq, deliveredAt, consumedBy } = event;
    if ((deliveredAt === null) !== (consumedBy === null)) {
      yield lost(
        `Event ${seq} was ${deliveredAt === null ? "never delivered" : "delivered"}, but the step that took it is ${consumedBy}.`,
      );
    }
    if (consumedBy === null) continue;
    const step = byKey.get(consumedBy);
    yield* taking(event, step);
    const other = takers.get(consumedBy);
    if (other !== undefined) {
      yield fifo(`Step "${consumedBy}" took two events, ${other.seq} and ${seq}.`);
    }
    takers.set(consumedBy, event);
    if (step !== undefined) yield* passedOver(event, step, events);
  }
}

function* repeated(events: readonly EventRecord[]): Generator<Found> {
  const seqs = new Set<number>();
  for (const { seq } of events) {
    if (seqs.has(seq)) yield fifo(`Two events have the sequence ${seq}.`);
    seqs.add(seq);
  }
}

function* taking(event: EventRecord, step: StepRecord | undefined): Generator<Found> {
  const { seq, consumedBy } = event;
  if (step === undefined) {
    yield lost(`Event ${seq} was taken by step "${consumedBy}", which is not recorded.`);
    return;
  }
  if (step.type !== "waitForEvent" || step.status !== "completed") {
    yield lost(`Event ${seq} was taken by step "${step.key}", which is a ${step.type} and ${step.status}.`);
    return;
  }
  if (step.wakeAt !== null && event.createdAt > step.wakeAt) {
    yield {
      invariant: "INV-26",
      message: `Event ${seq} of ${event.createdAt} was taken by step "${step.key}", which was over at ${step.wakeAt}.`,
    };
  }
  if (event.forStep !== null && event.forStep !== step.key) {
    yield fifo(`Event ${seq} is for step "${event.forStep}", but step "${step.key}" took it.`);
  }
  if (event.forStep === null && event.type !== step.eventType) {
    yield {
      ...fifo(`Event ${seq} is of type ${event.type}, but step "${step.key}" waits for ${step.eventType}.`),
      unless: "code-changed",
    };
  }
}

/** An older event was there for the wait, and it took a younger one. */
function* passedOver(taken: EventRecord, step: StepRecord, events: readonly EventRecord[]): Generator<Found> {
  if (taken.forStep !== null || step.wakeAt === null) return;
  const wait = { key: step.key, eventType: step.eventType, wakeAt: step.wakeAt };
  for (const older of events) {
    const isOlder = older.seq < taken.seq && older.type === taken.type && older.forStep === null;
    if (!isOlder || older.consumedBy !== null || !endsWait(older, wait)) continue;
    yield {
      ...fifo(`Step "${step.key}" took event ${taken.seq}, though event ${older.seq} was there before it.`),
      unless: "event-given-back",
    };
  }
}

function lost(message: string): Found {
  return { invariant: "INV-22", message };
}

function fifo(message: string): Found {
  return { invariant: "INV-24", message };
}
