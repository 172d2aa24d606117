/** No process takes up more than it has memory for, and no read brings more than was asked for (INV-48). */
import { valueBytes } from "../../../packages/everstep/src/model/bytes.ts";
import type { RunId } from "../../../packages/everstep/src/model/instance.ts";
import type { Claim, Lease } from "../../../packages/everstep/src/model/lease.ts";
import type { StepRecord } from "../../../packages/everstep/src/model/step.ts";
import { historyBytes } from "../../../packages/everstep/src/store/history-bytes.ts";
import type { ClaimRequest, RunHistory } from "../../../packages/everstep/src/store/store.ts";
import type { StoreCall } from "../../../packages/everstep/src/testing/intercept-store.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Leases } from "../../../packages/everstep/src/testing/simulate/leases.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import type { Applied, Check } from "./applied.ts";

export interface BudgetsParts {
  readonly leases: Leases;
  readonly facts: ReadonlyMap<string, RunFacts>;
  /** What turns in progress may hold. */
  readonly maxMemoryBytes: number;
}

export class Budgets implements Check {
  readonly #parts: BudgetsParts;
  /** Processes that may hold less than the store thinks. */
  readonly #disturbed = new Set<Member>();
  /** What was recorded of a run before its last commit, of which its process may not have heard. */
  readonly #heard = new Map<RunId, number>();
  /** Who has read a run or written to it last: a run that is given up is not even read. */
  readonly #known = new Map<RunId, Member>();

  constructor(parts: BudgetsParts) {
    this.#parts = parts;
  }

  disturbed(member: Member): void {
    this.#disturbed.add(member);
  }

  /** Before it is on its way. */
  *called(member: Member, { method, args }: StoreCall): Generator<Finding> {
    const { maxMemoryBytes } = this.#parts;
    if (method === "release") for (const { runId } of args[0] as readonly Lease[]) this.#known.delete(runId);
    if (method !== "claim" || this.#disturbed.has(member) || (args[0] as ClaimRequest).limit === 0) return;
    const bytes = this.#heldBy(member);
    if (bytes < maxMemoryBytes) return;
    yield {
      invariant: "INV-48",
      message: `process ${member.number} asks for more runs, with ${bytes} bytes of ${maxMemoryBytes} in turns in progress`,
    };
  }

  *applied({ member, call, answer, runs, written }: Applied): Generator<Finding> {
    for (const { request } of written)
      if (request.kind === "commit" && !request.boundary.noProgress)
        this.#known.set(request.lease.runId, member);
    for (const { before, after } of runs) {
      const bytes = before === undefined ? 0 : resultBytes(before.steps);
      if (bytes !== resultBytes(after.steps)) this.#heard.set(after.record.runId, bytes);
    }
    // What it had of the run before is gone with the turn before.
    if (call.method === "claim")
      for (const { lease } of answer as readonly Claim[]) this.#known.delete(lease.runId);
    if (call.method !== "readRuns") return;
    const [, maxBytes = Number.POSITIVE_INFINITY] = call.args as [unknown, number?];
    // One history is read, however large it is.
    const sizes = (answer as readonly RunHistory[]).map(historyBytes).filter((bytes) => bytes > 0);
    const beyond = sizes.slice(0, -1).reduce((sum, bytes) => sum + bytes, 0);
    // Stores measure rows, and only about.
    if (beyond <= 2 * maxBytes + 2000) return;
    yield {
      invariant: "INV-48",
      message: `a read of histories brought ${beyond} bytes and another one, where ${maxBytes} were asked for`,
    };
  }

  /** Until the answer is there, nobody knows how large a history is. */
  answered(member: Member, { method }: StoreCall, answer: unknown): void {
    if (method !== "readRuns") return;
    for (const { runId, kind } of answer as readonly RunHistory[])
      if (kind === "history") this.#known.set(runId, member);
  }

  /** What is recorded of the runs it has in hand. */
  #heldBy(member: Member): number {
    const { leases, facts } = this.#parts;
    let bytes = 0;
    for (const { record, steps } of facts.values())
      if (
        record.executing &&
        leases.holderOf(record.runId) === member &&
        this.#known.get(record.runId) === member
      )
        bytes += Math.min(resultBytes(steps), this.#heard.get(record.runId) ?? 0);
    return bytes;
  }
}

/** What steps returned, which is nearly all of what a run takes. */
function resultBytes(steps: readonly StepRecord[]): number {
  return steps.reduce((sum, step) => sum + (step.status === "completed" ? valueBytes(step.result) : 0), 0);
}
