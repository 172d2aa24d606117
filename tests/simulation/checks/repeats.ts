/** Whoever asks again gets the answer that was given the first time, as far as it is still true (INV-25, INV-42). */
import { type InstanceStatus, isTerminal } from "../../../packages/everstep/src/model/instance.ts";
import type { Lease } from "../../../packages/everstep/src/model/lease.ts";
import type { CommitOutcome, CommitRequest } from "../../../packages/everstep/src/store/store.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import { same } from "../../../packages/everstep/src/verify/same.ts";
import { type Applied, type Check, mayTouch, type Written } from "./applied.ts";

export class Repeats implements Check {
  /** The last commit that was applied, by run and token. */
  readonly #last = new Map<string, number>();

  *applied({ written, runs, before }: Applied): Generator<Finding> {
    for (const each of written) {
      if (each.became === "applied") this.#note(each);
      if (each.isAnother)
        yield {
          invariant: "INV-42",
          message: `two commits were sent under one number of ${nameOfCommit(each)}`,
        };
      // An older one than the last may be refused: nobody waits for its answer any more.
      if (each.became !== "repeated" || (each.outcome.kind === "superseded" && this.#isOld(each))) continue;
      const { request } = each;
      const after =
        request.kind === "commit"
          ? (runs.find(({ after }) => after.record.runId === request.lease.runId)?.after ??
            before(request.lease.runId))
          : undefined;
      // What else the write did may have come after it.
      const isAlone = after === undefined || !written.some((other) => mayTouch(other, after));
      const message = isAlone ? contradiction(each, after) : null;
      if (message !== null)
        yield {
          invariant: request.kind === "sendEvent" ? "INV-25" : "INV-42",
          message: `${request.kind}: ${message}`,
        };
    }
  }

  #note({ request }: Written): void {
    if (request.kind === "commit") this.#last.set(leaseOf(request.lease), request.boundary.number);
  }

  #isOld({ request }: Written): boolean {
    return (
      request.kind === "commit" && request.boundary.number < (this.#last.get(leaseOf(request.lease)) ?? 0)
    );
  }
}

function leaseOf({ runId, token }: Lease): string {
  return `${runId} ${token}`;
}

function contradiction({ request, outcome, first }: Written, facts: RunFacts | undefined): string | null {
  switch (outcome.kind) {
    case "committed":
    case "paused":
    case "superseded":
      return facts === undefined ? null : commitContradiction(request as CommitRequest, outcome, facts);
    case "accepted":
      if (first.kind !== "accepted") return null;
      if (!outcome.duplicate) return "accepted once more";
      return outcome.runId === first.runId ? null : `accepted by run ${outcome.runId}, was by ${first.runId}`;
    case "published": {
      if (first.kind !== "published") return null;
      const isAlike = outcome.duplicate && outcome.waiters === first.waiters;
      return isAlike ? null : `${outcome.waiters} waiters once more, were ${first.waiters}`;
    }
    case "changed":
      return same(outcome, first) ? null : `${JSON.stringify(outcome)}, was ${JSON.stringify(first)}`;
    default:
      return `answered with ${outcome.kind}, was ${first.kind}`;
  }
}

/** A commit's answer says what is true now: whether its run is paused, and whether its timeouts stand. */
function commitContradiction(
  { lease, boundary }: CommitRequest,
  outcome: CommitOutcome,
  { record, steps }: RunFacts,
): string | null {
  if (record.token !== lease.token)
    return outcome.kind === "superseded" ? null : "answered though its token is void";
  const isDropped = endings.includes(boundary.next.kind) && !isTerminal(record.status);
  const expected = expectedOf(record.status, isDropped);
  if (outcome.kind !== expected) return `answered with ${outcome.kind} instead of ${expected}`;
  if (outcome.kind === "superseded" || outcome.kind === "mutation-failed") return null;
  const isOpen = boundary.timeouts.some(({ wait }) =>
    steps.some(({ index, status }) => index === wait.index && status === "waiting"),
  );
  return outcome.timeoutsRefused === isOpen
    ? null
    : `says that timeouts ${isOpen ? "stand" : "were refused"}`;
}

const endings: readonly string[] = ["complete", "error", "terminate"];

function expectedOf(status: InstanceStatus, isDropped: boolean): CommitOutcome["kind"] {
  if (status === "paused") return "paused";
  return isDropped ? "superseded" : "committed";
}

function nameOfCommit({ request }: Written): string {
  const { lease, boundary } = request as CommitRequest;
  return `run ${lease.runId}: ${boundary.number} under token ${lease.token}`;
}
