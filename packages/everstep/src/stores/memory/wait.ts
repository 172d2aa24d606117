import type { EventRecord } from "../../model/event.ts";
import type { WaitingStep } from "../../model/step.ts";
import type { Run } from "./run.ts";

/** Whether the event is for this wait: addressed to it, or to nobody and of its type; and not younger than its end. */
export function satisfies(event: EventRecord, wait: WaitingStep): boolean {
  if (event.createdAt > wait.wakeAt) return false;
  if (event.forStep !== null) return event.forStep === wait.key;
  return event.type !== null && event.type === wait.eventType;
}

/** An undelivered event above `seqSeen` is there for one of the waits. */
export function eventIsThere(run: Run, waits: Iterable<WaitingStep>, seqSeen: number): boolean {
  for (const wait of waits) {
    for (const event of run.undelivered.values()) {
      if (event.seq > seqSeen && satisfies(event, wait)) return true;
    }
  }
  return false;
}

export function isAwaited(event: EventRecord, run: Run): boolean {
  for (const wait of run.open.values()) if (satisfies(event, wait)) return true;
  return false;
}
