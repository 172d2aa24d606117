/**
 * People's decisions: made only where they may be (INV-35), with the effect they name, and nobody else takes one back
 * (INV-34). A run that a restart begins has nothing of the one before it (INV-38) but a higher token (INV-1).
 */
import { isTerminal } from "../../../packages/everstep/src/model/instance.ts";
import type { ChangeRequest } from "../../../packages/everstep/src/store/store.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import { same } from "../../../packages/everstep/src/verify/same.ts";
import { type Applied, type Check, isOf, nameOf, type Written } from "./applied.ts";

export class Decisions implements Check {
  *applied(applied: Applied): Generator<Finding> {
    yield* resumedByNobody(applied);
    const { written, call, runs } = applied;
    for (const each of written) {
      const { request, became, outcome } = each;
      if (request.kind !== "change" || became !== "applied" || outcome.kind !== "changed") continue;
      if (!isAlone(each, written)) continue;
      const after = runs.find(({ after: { record } }) => record.runId === outcome.runId)?.after;
      const before = runs.find(
        ({ after: { record }, before }) => before !== undefined && isOf(record, request),
      )?.before;
      if (after === undefined || before === undefined) continue;
      yield* required(request, before);
      yield* effected(request, before, after, call.args[1] as number);
    }
  }
}

/** No other request of the write is about the same instance. */
function isAlone({ request }: Written, written: readonly Written[]): boolean {
  return (
    written.length === 1 ||
    written.every((other) => other.request === request || other.request.kind === "create")
  );
}

function* resumedByNobody({ runs, written }: Applied): Generator<Finding> {
  const isAbandoned = written.some(({ request }) => request.kind === "abandon");
  for (const { before, after } of runs) {
    if (before?.record.status !== "paused" || after.record.status === "paused" || isAbandoned) continue;
    const isDecided = written.some(({ request }) => request.kind === "change" && isOf(after.record, request));
    if (isDecided) continue;
    yield {
      invariant: "INV-34",
      message: `${nameOf(after)} was paused and is ${after.record.status}, which nobody decided`,
    };
  }
}

function* required({ when, change }: ChangeRequest, before: RunFacts): Generator<Finding> {
  const { status, runNumber, token } = before.record;
  const isAllowed =
    when.statuses.includes(status) &&
    (when.runNumber ?? runNumber) === runNumber &&
    (when.token === undefined || when.token === token);
  if (isAllowed) return;
  yield {
    invariant: "INV-35",
    message: `a ${change.kind} was made of ${nameOf(before)}, which was ${status} with token ${token}: ${JSON.stringify(when)}`,
  };
}

function* effected(
  { change }: ChangeRequest,
  before: RunFacts,
  after: RunFacts,
  now: number,
): Generator<Finding> {
  const found = (invariant: string, what: string): Finding => ({
    invariant,
    message: `${nameOf(after)} ${what} after a ${change.kind}`,
  });
  const { record } = after;
  const hasLostLease = before.record.executing && !record.executing;
  switch (change.kind) {
    case "pause":
      if (record.status !== "paused") yield found("INV-34", `is ${record.status}`);
      if (hasLostLease) yield found("INV-34", "has lost its lease");
      return;
    case "resume": {
      if (record.status !== "active") yield found("INV-34", `is ${record.status}`);
      // A lease that ran out meanwhile stays one that ran out: its claim counts a crash.
      if (hasLostLease) yield found("INV-14", "has lost its lease");
      const isHeld = before.record.executing && (before.record.dueAt ?? 0) > now;
      if (isHeld && record.dueAt !== before.record.dueAt) yield found("INV-1", "was taken from its holder");
      if (!isHeld && (record.dueAt ?? Number.POSITIVE_INFINITY) > now)
        yield found("INV-23", `is not due before ${record.dueAt}`);
      return;
    }
    case "terminate":
      if (record.status !== "terminated") yield found("INV-33", `is ${record.status}`);
      if (record.token <= before.record.token) yield found("INV-12", "has its old token");
      return;
    case "restart":
      if (record.runNumber !== before.record.runNumber + 1) yield found("INV-38", "is not the next run");
      if (record.token <= before.record.token)
        yield found("INV-1", `has token ${record.token}, not a higher one`);
      if (!same(after.steps, change.history))
        yield found("INV-38", "begins with other steps than it was given");
      if (after.events.length > 0) yield found("INV-38", "begins with events");
      if (record.crashCount > 0) yield found("INV-38", "begins with crashes");
      return;
    case "retryStep": {
      if (isTerminal(record.status)) yield found("INV-33", `is ${record.status}`);
      const kept = after.steps.filter(({ index }) => change.drop.includes(index));
      if (kept.length > 0) yield found("INV-15", `still has step "${kept[0]?.key}"`);
      const taken = after.events.filter(({ consumedBy }) =>
        change.releaseEventsOf.includes(consumedBy ?? ""),
      );
      if (taken.length > 0) yield found("INV-22", `has not got event ${taken[0]?.seq} back`);
      return;
    }
  }
}
