/** Whoever commits to a paused run, or renews its lease, is told of the pause; and who was told begins nothing (INV-34). */
import type { RunId } from "../../../packages/everstep/src/model/instance.ts";
import type { RenewAnswer, Renewal } from "../../../packages/everstep/src/store/store.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Entry } from "../../../packages/everstep/src/testing/simulate/ledger.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import { type Applied, type Check, isOf, nameOf } from "./applied.ts";

export interface PausesParts {
  readonly facts: ReadonlyMap<string, RunFacts>;
  /** How long an answer is on its way at most. */
  readonly answerMsMax: number;
  readonly now: () => number;
}

export class Pauses implements Check {
  readonly #parts: PausesParts;
  /** Since when the holder of this token knows that its run is paused. */
  readonly #told = new Map<RunId, { readonly token: number; readonly at: number }>();

  constructor(parts: PausesParts) {
    this.#parts = parts;
  }

  /** Who was told of a pause that is gone may be told of another. */
  mark(): () => void {
    return () => this.#told.clear();
  }

  *applied({ call, answer, written, runs, now }: Applied): Generator<Finding> {
    const factsOf = (runId: RunId): RunFacts | undefined =>
      runs.find(({ after }) => after.record.runId === runId)?.after;
    if (call.method === "renew") {
      for (const [at, { lease }] of (call.args[0] as readonly Renewal[]).entries()) {
        const heard = (answer as readonly RenewAnswer[])[at];
        if (heard?.kind === "renewed") yield* told(factsOf(lease.runId), heard.paused, "renewal");
      }
    }
    for (const { request, outcome, became } of written) {
      if (request.kind !== "commit") continue;
      const { runId, token } = request.lease;
      // The answer that told of a pause may be lost, and the repeated commit is answered after it is over.
      if (outcome.kind === "committed") this.#told.delete(runId);
      if (became !== "applied") continue;
      const after = factsOf(runId);
      const isDecided = written.some(
        (other) => other.request.kind === "change" && after && isOf(after.record, other.request),
      );
      if (!isDecided) yield* told(after, outcome.kind === "paused", "commit");
      if (outcome.kind === "paused") this.#told.set(runId, { token, at: now });
    }
  }

  *begins({ key, run }: Entry): Generator<Finding> {
    const record = this.#parts.facts.get(run)?.record;
    const knows = record && this.#told.get(record.runId);
    if (record?.status !== "paused" || knows?.token !== record.token) return;
    const sinceMs = this.#parts.now() - knows.at;
    if (sinceMs <= this.#parts.answerMsMax) return;
    yield {
      invariant: "INV-34",
      message: `${key} began ${sinceMs} ms after its process was told that it is paused`,
    };
  }
}

function* told(facts: RunFacts | undefined, isPaused: boolean, what: string): Generator<Finding> {
  if (facts === undefined || isPaused === (facts.record.status === "paused")) return;
  const said = isPaused ? "paused" : "not paused";
  yield {
    invariant: "INV-34",
    message: `a ${what} of ${nameOf(facts)} says that it is ${said}: it is ${facts.record.status}`,
  };
}
