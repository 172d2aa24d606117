import type { EventRecord } from "../../model/event.ts";
import { mayBeForgotten } from "../retried.ts";
import type { RunFacts } from "../run-facts.ts";
import { differing } from "../same.ts";
import type { Found } from "../violation.ts";

/** An accepted event stays, and so does its taker (INV-22); new ones come after all others (INV-24). */
export function* keptEventRules(before: RunFacts, after: RunFacts): Generator<Found> {
  const bySeq = new Map(after.events.map((event) => [event.seq, event]));
  const isForgettable = mayBeForgotten(before, after);
  let last = 0;
  for (const was of before.events) {
    last = Math.max(last, was.seq);
    const is = bySeq.get(was.seq);
    if (is === undefined) yield lost(`Event ${was.seq} is gone.`);
    else yield* changed(was, is, was.consumedBy !== null && isForgettable(was.consumedBy));
    bySeq.delete(was.seq);
  }
  for (const { seq } of bySeq.values()) {
    if (seq > last) continue;
    yield { invariant: "INV-24", message: `Event ${seq} was accepted after event ${last}.` };
  }
}

const content = ["id", "type", "topic", "forStep", "payload", "createdAt"] as const;

function* changed(was: EventRecord, is: EventRecord, mayBeGivenBack: boolean): Generator<Found> {
  for (const name of differing(was, is, content))
    yield lost(`Event ${was.seq} has another ${name} than before.`);
  if (was.deliveredAt === null || mayBeGivenBack) return;
  if (is.deliveredAt !== was.deliveredAt || is.consumedBy !== was.consumedBy) {
    yield lost(
      `Event ${was.seq} was taken by step "${was.consumedBy}", and now by ${is.consumedBy ?? "nobody"}.`,
    );
  }
}

function lost(message: string): Found {
  return { invariant: "INV-22", message };
}
