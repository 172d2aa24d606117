/**
 * An event that was there in time ends the wait, a timeout does not (INV-26): not where the store could still see the
 * event, nor where the turn had seen it and passed it over. Which event is in time is said here once more, on purpose.
 */
import type { EventRecord } from "../../../packages/everstep/src/model/event.ts";
import { isTerminal, type RunId } from "../../../packages/everstep/src/model/instance.ts";
import type { WaitingStep } from "../../../packages/everstep/src/model/step.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import { refill } from "../../../packages/everstep/src/testing/simulate/refill.ts";
import { type Applied, type Check, nameOf } from "./applied.ts";

interface PassedOver {
  readonly wait: string;
  readonly seq: number;
}

export class Timeouts implements Check {
  /** Events that were there for a wait that timed out: another wait must have taken them. */
  readonly #passedOver = new Map<RunId, PassedOver[]>();

  mark(): () => void {
    const passedOver = new Map(this.#passedOver);
    return () => refill(this.#passedOver, passedOver);
  }

  *applied({ written, runs, before }: Applied): Generator<Finding> {
    for (const { request, outcome, became } of written) {
      if (request.kind !== "commit" || became !== "applied" || request.boundary.timeouts.length === 0)
        continue;
      if (outcome.kind !== "committed" && outcome.kind !== "paused") continue;
      const { runId } = request.lease;
      const facts = before(runId);
      if (facts === undefined || outcome.timeoutsRefused) continue;
      for (const { wait } of request.boundary.timeouts) {
        const inTime = facts.events.filter((event) => isFor(event, wait) && event.deliveredAt === null);
        const unseen = inTime.find(({ seq }) => seq > request.boundary.eventSeqSeen);
        if (unseen !== undefined)
          yield {
            invariant: "INV-26",
            message: `"${wait.key}" of ${nameOf(facts)} timed out at ${wait.wakeAt}, though event ${unseen.seq} of ${unseen.createdAt} was there`,
          };
        const passed = inTime.map(({ seq }) => ({ wait: wait.key, seq }));
        this.#passedOver.set(runId, [...(this.#passedOver.get(runId) ?? []), ...passed]);
      }
    }
    for (const { after } of runs) {
      if (!isTerminal(after.record.status) || after.record.status === "terminated") continue;
      for (const { wait, seq } of this.#passedOver.get(after.record.runId) ?? []) {
        if (after.events.find((event) => event.seq === seq)?.consumedBy !== null) continue;
        yield {
          invariant: "INV-26",
          message: `"${wait}" of ${nameOf(after)} timed out, though event ${seq} was there in time, which nobody took`,
        };
      }
    }
  }

  /** Events were given back: what was passed over says nothing any more. */
  forget(runId: RunId): void {
    this.#passedOver.delete(runId);
  }
}

function isFor({ type, forStep, createdAt }: EventRecord, { key, eventType, wakeAt }: WaitingStep): boolean {
  if (createdAt > wakeAt) return false;
  return forStep === null ? type !== null && type === eventType : forStep === key;
}
