import type { EventRecord } from "../../model/event.ts";
import type { WaitingStep } from "../../model/step.ts";
import { endsWait } from "../../model/wait-match.ts";
import type { Run } from "./run.ts";

/** An undelivered event above `seqSeen` is there for one of the waits. */
export function eventIsThere(run: Run, waits: Iterable<WaitingStep>, seqSeen: number): boolean {
  for (const wait of waits) {
    for (const event of run.undelivered.values()) {
      if (event.seq > seqSeen && endsWait(event, wait)) return true;
    }
  }
  return false;
}

export function isAwaited(event: EventRecord, run: Run): boolean {
  for (const wait of run.open.values()) if (endsWait(event, wait)) return true;
  return false;
}
