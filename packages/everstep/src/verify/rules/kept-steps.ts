import type { StepRecord } from "../../model/step.ts";
import { mayBeForgotten } from "../retried.ts";
import type { RunFacts } from "../run-facts.ts";
import { differing, same } from "../same.ts";
import type { Found } from "../violation.ts";

/** A completed step stays as it is (INV-7), an open one only goes on (INV-10, INV-29), new ones settle last (INV-17). */
export function* keptStepRules(before: RunFacts, after: RunFacts): Generator<Found> {
  const byIndex = new Map(after.steps.map((step) => [step.index, step]));
  const isForgettable = mayBeForgotten(before, after);
  const retryable = after.record.token !== before.record.token;
  let lastSettled = -1;
  const kept = new Set<number>();
  for (const was of before.steps) {
    const is = byIndex.get(was.index);
    if (isForgettable(was.key)) {
      if (same(was, is)) kept.add(was.index);
      continue;
    }
    if (is === undefined) {
      yield { invariant: "INV-7", message: `Step "${was.key}" was ${was.status} and is gone.` };
    } else if (was.status === "completed" || (was.status === "errored" && !retryable)) {
      if (!same(was, is))
        yield { invariant: "INV-7", message: `Step "${was.key}" was ${was.status} and has changed.` };
    } else yield* goneOn(was, is, retryable);
    if (was.status !== "waiting" && same(was, is)) {
      lastSettled = Math.max(lastSettled, was.settledIndex);
      kept.add(was.index);
    }
  }
  for (const is of after.steps) {
    if (is.status === "waiting" || kept.has(is.index) || is.settledIndex > lastSettled) continue;
    yield {
      invariant: "INV-17",
      message: `Step "${is.key}" settled at place ${is.settledIndex}, after place ${lastSettled} was taken.`,
    };
  }
}

const identity = [
  "key",
  "name",
  "count",
  "type",
  "parentKey",
  "depth",
  "createdAt",
  "eventType",
  "topic",
] as const;
const counts = ["attempts", "starts"] as const;

/** A step that was open, or that failed and may have been opened again. */
function* goneOn(was: StepRecord, is: StepRecord, retryable: boolean): Generator<Found> {
  for (const name of differing(was, is, identity)) {
    yield {
      invariant: "INV-7",
      message: `Step "${was.key}" is another one: its ${name} is ${is[name]}, was ${was[name]}.`,
    };
  }
  for (const name of counts) {
    if (is[name] >= was[name]) continue;
    yield { invariant: "INV-10", message: `Step "${was.key}" had ${was[name]} ${name} and has ${is[name]}.` };
  }
  if (!retryable && was.maxAttempts !== is.maxAttempts) {
    yield {
      invariant: "INV-10",
      message: `Step "${was.key}" may have ${is.maxAttempts} attempts, could have ${was.maxAttempts}.`,
    };
  }
  yield* recomputed(was, is);
}

/**
 * A time is computed once, and kept when the wait is over. Another attempt has another time; whether a resume shifted it
 * or a retry gave a new one cannot be seen, but neither makes a sleep that is still open end earlier.
 */
function* recomputed(was: StepRecord, is: StepRecord): Generator<Found> {
  if (was.status !== "waiting" || was.wakeAt === is.wakeAt) return;
  if (was.type === "do" && (is.status !== "waiting" || was.attempts !== is.attempts)) return;
  const isNeverEarlier = was.type === "sleep" && is.status === "waiting";
  const isEarlier = is.wakeAt === null || is.wakeAt < was.wakeAt;
  yield {
    invariant: "INV-29",
    message: `Step "${was.key}" was to wake at ${was.wakeAt} and is now to wake at ${is.wakeAt}.`,
    ...(isNeverEarlier && isEarlier ? {} : { unless: "time-given-anew" }),
  };
}
