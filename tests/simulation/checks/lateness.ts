/** A turn in progress ends its waits when their time has come, whatever else holds it open (LIV-1). */
import type { RunId } from "../../../packages/everstep/src/model/instance.ts";
import type { Claim } from "../../../packages/everstep/src/model/lease.ts";
import type { StepRecord } from "../../../packages/everstep/src/model/step.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Applied, Check } from "./applied.ts";

export interface LatenessParts {
  /** From a claim to the moment its turn has replayed everything, at most. */
  readonly replayMsMax: number;
}

const lateMsMax = 250;

export class Lateness implements Check {
  readonly #parts: LatenessParts;
  /** Since when the lease with this token is held. */
  readonly #since = new Map<RunId, { readonly token: number; readonly at: number }>();
  /** Processes that stood still or were told to stop. */
  readonly #disturbed = new Set<Member>();

  constructor(parts: LatenessParts) {
    this.#parts = parts;
  }

  disturbed(member: Member): void {
    this.#disturbed.add(member);
  }

  *applied({ member, call, answer, written, before, now }: Applied): Generator<Finding> {
    if (call.method === "claim")
      for (const { lease } of answer as readonly Claim[])
        this.#since.set(lease.runId, { token: lease.token, at: now });
    if (this.#disturbed.has(member)) return;
    for (const { request, became } of written) {
      if (request.kind !== "commit" || became !== "applied") continue;
      const { runId, token } = request.lease;
      const since = this.#since.get(runId);
      if (since?.token !== token || before(runId)?.record.status === "paused") continue;
      const readyAt = since.at + this.#parts.replayMsMax;
      const { steps, timeouts } = request.boundary;
      for (const step of [...steps, ...timeouts.map(({ settled }) => settled)]) {
        const lateMs = latenessOf(step, readyAt);
        if (lateMs <= lateMsMax) continue;
        yield {
          invariant: "LIV-1",
          message: `"${step.key}" of run ${runId} was over ${lateMs} ms after its time, in a turn in progress`,
        };
      }
    }
  }
}

/** 0 for what is no wait, or was over before the turn could know. */
function latenessOf(step: StepRecord, readyAt: number): number {
  const isWait = step.type !== "do" && step.parentKey === null;
  if (!isWait || step.status === "waiting" || step.wakeAt === null || step.wakeAt < readyAt) return 0;
  // One that an event ended was over before its time.
  // A time that was over when it was asked for is late from then on.
  return Math.max(0, step.settledAt - Math.max(step.wakeAt, step.createdAt));
}
