import { endsWait } from "../../model/wait-match.ts";
import { isTopLevel, openWaits, type RunFacts } from "../run-facts.ts";
import type { Found } from "../violation.ts";

/**
 * A run that waits for an event that is there is due now (INV-23). Only `waiting` runs: one that was put back after a
 * crash, or whose failed step is to be retried later, waits for that first.
 */
export function* wakeUpRules(facts: RunFacts, now: number): Generator<Found> {
  const { status, dueAt, updatedAt } = facts.record;
  if (status !== "waiting" || dueAt === null) return;
  const waits = openWaits(facts).filter((wait) => isTopLevel(wait) && wait.type === "waitForEvent");
  for (const event of facts.events) {
    if (event.deliveredAt !== null) continue;
    const wait = waits.find((open) => endsWait(event, open));
    // The due time was read from the clock of whoever sent the event or suspended the run.
    if (wait === undefined || dueAt <= Math.max(now, updatedAt, event.createdAt)) continue;
    yield {
      invariant: "INV-23",
      message: `Step "${wait.key}" waits for event ${event.seq}, which is there, but the run is not due before ${dueAt}.`,
      unless: "code-changed",
    };
  }
}
