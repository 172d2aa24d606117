/**
 * A turn in progress ends its waits when their time has come, whatever else holds it open, also after a pause (LIV-1).
 */
import { numberBefore } from "../../../packages/everstep/src/model/boundary.ts";
import type { RunId } from "../../../packages/everstep/src/model/instance.ts";
import type { Claim } from "../../../packages/everstep/src/model/lease.ts";
import type { StepRecord } from "../../../packages/everstep/src/model/step.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import type { Applied, Check } from "./applied.ts";

export interface LatenessParts {
  /** From a claim to the moment its turn has replayed everything, at most. */
  readonly replayMsMax: number;
  /** From a resume to the moment the turn in progress has heard of it, at most. */
  readonly heardMsMax: number;
}

const lateMsMax = 250;

export class Lateness implements Check {
  readonly #parts: LatenessParts;
  /** Since when the lease with this token is held. */
  readonly #since = new Map<RunId, { readonly token: number; readonly at: number }>();
  /** When it was resumed last. */
  readonly #resumed = new Map<RunId, number>();
  /** Tokens of turns of which the store would not take a commit: one whose function knows a void result gives way. */
  readonly #refused = new Set<number>();
  /** Processes that stood still or were told to stop. */
  readonly #disturbed = new Set<Member>();

  constructor(parts: LatenessParts) {
    this.#parts = parts;
  }

  disturbed(member: Member): void {
    this.#disturbed.add(member);
  }

  *applied({ member, call, answer, written, runs, before, now }: Applied): Generator<Finding> {
    for (const seen of runs)
      if (isPaused(seen.before) && !isPaused(seen.after)) this.#resumed.set(seen.after.record.runId, now);
    if (call.method === "claim")
      for (const { lease } of answer as readonly Claim[])
        this.#since.set(lease.runId, { token: lease.token, at: now });
    if (this.#disturbed.has(member)) return;
    for (const { request, became } of written) {
      if (request.kind !== "commit" || became !== "applied") continue;
      const { runId, token } = request.lease;
      const since = this.#since.get(runId);
      if (since?.token !== token || isPaused(before(runId))) continue;
      const readyAt = since.at + this.#parts.replayMsMax;
      const goesOnAt = this.#goesOnAt(runId, since.at);
      const { number, steps, timeouts, next } = request.boundary;
      if (numberBefore(request.boundary) !== number - 1) this.#refused.add(token);
      for (const step of [...steps, ...timeouts.map(({ settled }) => settled)]) {
        const lateMs = latenessOf(step, readyAt, goesOnAt);
        if (lateMs > lateMsMax) yield late(runId, step, `was over ${lateMs} ms after its time`);
      }
      const after = runs.find((seen) => seen.after.record.runId === runId)?.after;
      if (next.kind !== "yield" || goesOnAt === null || after === undefined) continue;
      if (this.#refused.has(token)) continue;
      for (const step of after.steps) {
        const lateMs = step.status === "waiting" ? now - Math.max(step.wakeAt, readyAt, goesOnAt) : 0;
        if (lateMs > lateMsMax) yield late(runId, step, `was not over ${lateMs} ms after its time`);
      }
    }
  }

  /** When a turn that has its lease since then knows of a resume; null without any. */
  #goesOnAt(runId: RunId, since: number): number | null {
    const at = this.#resumed.get(runId);
    return at === undefined || at < since ? null : at + this.#parts.heardMsMax;
  }
}

function isPaused(facts: RunFacts | undefined): boolean {
  return facts?.record.status === "paused";
}

function late(runId: RunId, { key }: StepRecord, how: string): Finding {
  return { invariant: "LIV-1", message: `"${key}" of run ${runId} ${how}, in a turn in progress` };
}

/** 0 for what is no wait, or was over before the turn could know. */
function latenessOf(step: StepRecord, readyAt: number, goesOnAt: number | null): number {
  const isWait = step.type !== "do" && step.parentKey === null;
  if (!isWait || step.status === "waiting" || step.wakeAt === null || step.wakeAt < readyAt) return 0;
  // One that an event ended was over before its time.
  // A time that was over when it was asked for is late from then on.
  return Math.max(0, step.settledAt - Math.max(step.wakeAt, step.createdAt, goesOnAt ?? 0));
}
