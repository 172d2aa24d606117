import { isTerminal } from "../../model/instance.ts";
import { isTopLevel, openWaits, type RunFacts } from "../run-facts.ts";
import type { Found } from "../violation.ts";

/** Whoever wants a turn has a time for it, and nobody else has one (INV-37); the earliest wait decides it (INV-31). */
export function* scheduleRules(facts: RunFacts, now: number): Generator<Found> {
  const { status, dueAt, executing, unlisted } = facts.record;
  const wantsTurn = executing || !(status === "paused" || isTerminal(status));
  if (wantsTurn && dueAt === null) yield conservation(`The run is ${status} but nothing makes it due.`);
  if (unlisted && dueAt !== null) {
    yield conservation(
      `The run is ${status} and due at ${dueAt}, but stands in no list of due runs, so no runner finds it. ` +
        "Pause and resume it: that puts it back.",
    );
  }
  if (!wantsTurn && dueAt !== null) yield conservation(`The run is ${status} but due at ${dueAt}.`);
  if (isTerminal(status) && executing) yield conservation(`The run is ${status} but under a lease.`);
  if (status === "waiting") yield* waitingRules(facts, now);
}

/** A run is `waiting` from the commit that suspends it until it is claimed, paused or ended. */
function* waitingRules(facts: RunFacts, now: number): Generator<Found> {
  const { dueAt, executing } = facts.record;
  if (executing) yield conservation("The run is waiting but under a lease: a claim makes it active.");
  const waits = openWaits(facts).filter(isTopLevel);
  if (waits.length === 0) {
    yield conservation("The run is waiting, but no step of it waits for a time or an event.");
    return;
  }
  const earliest = waits.reduce((first, wait) => (wait.wakeAt < first.wakeAt ? wait : first));
  // One that suspends into an event is due at that moment, which may be after its earliest wait was over.
  if (dueAt !== null && dueAt > Math.max(earliest.wakeAt, now)) {
    yield {
      invariant: "INV-31",
      message: `Step "${earliest.key}" wakes at ${earliest.wakeAt}, but the run is not due before ${dueAt}.`,
      // A wait the code does not ask for any more stays open and counts for nothing; one that counts is always there.
      ...(waits.some((wait) => wait.wakeAt >= dueAt) ? { unless: "code-changed" } : {}),
    };
  }
}

function conservation(message: string): Found {
  return { invariant: "INV-37", message };
}
