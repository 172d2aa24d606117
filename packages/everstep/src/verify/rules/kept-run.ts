import { type InstanceRecord, inputFields, isTerminal } from "../../model/instance.ts";
import type { RunFacts } from "../run-facts.ts";
import { differing } from "../same.ts";
import type { Found } from "../violation.ts";

/** What never changes about a run, and what never changes again once it has ended. */
export function* keptRunRules(before: RunFacts, after: RunFacts): Generator<Found> {
  const [was, is] = [before.record, after.record];
  if (is.token === 0 && was.token !== 0) {
    yield { invariant: "INV-1", message: `The run has lost its token, which was ${was.token}.` };
  }
  for (const name of differing(was, is, inputs)) {
    yield { invariant: "INV-18", message: `The run's ${name} ${changed(was, is, name)}.` };
  }
  if (was.startedAt !== null && was.startedAt !== is.startedAt) {
    yield { invariant: "INV-18", message: `The run's startedAt ${changed(was, is, "startedAt")}.` };
  }
  if (after.isCurrent && !before.isCurrent) {
    yield { invariant: "INV-38", message: "The run was followed by another and is the current one again." };
  }
  if (isFinal(was, is)) {
    for (const name of differing(was, is, ends)) {
      yield {
        invariant: "INV-33",
        message: `The run was ${was.status}, but its ${name} ${changed(was, is, name)}.`,
      };
    }
    yield* same(before.steps.length, after.steps.length, "steps", was);
    yield* same(before.events.length, after.events.length, "events", was);
  }
}

const inputs = [...inputFields, "runNumber"] as const;
const ends = [
  "status",
  "output",
  "error",
  "terminationReason",
  "deadLetter",
  "completedAt",
  "retentionUntil",
] as const;

/** Only an errored run may go on, by a retry of its failed step, which moves the token. */
function isFinal(was: InstanceRecord, is: InstanceRecord): boolean {
  return isTerminal(was.status) && !(was.status === "errored" && is.token !== was.token);
}

function* same(was: number, is: number, what: string, record: InstanceRecord): Generator<Found> {
  if (was === is) return;
  yield {
    invariant: "INV-33",
    message: `The run was ${record.status} with ${was} ${what} and now has ${is}.`,
  };
}

function changed(was: InstanceRecord, is: InstanceRecord, name: keyof InstanceRecord): string {
  const show = (value: unknown): string =>
    typeof value === "object" && value !== null ? "…" : String(value);
  return `changed from ${show(was[name])} to ${show(is[name])}`;
}
