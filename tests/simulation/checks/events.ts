/**
 * Every event has one wait and every wait that heard one has its own (INV-24); a publication reaches the waits that are
 * open, each once (INV-24, INV-26); and no run keeps more events than it may (INV-48).
 */

import { isTerminal } from "../../../packages/everstep/src/model/instance.ts";
import type { PublishRequest, SendEventRequest } from "../../../packages/everstep/src/store/store.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import { type Applied, type Check, isOf, nameOf, type Written } from "./applied.ts";

export class Events implements Check {
  /** Every run as it was last looked at before the call. */
  readonly #before: ReadonlyMap<string, RunFacts>;

  constructor(before: ReadonlyMap<string, RunFacts>) {
    this.#before = before;
  }

  *applied({ written, runs, call }: Applied): Generator<Finding> {
    for (const { after } of runs) {
      yield* unheard(after);
      yield* doubled(after);
    }
    for (const each of written) {
      const { request, became } = each;
      if (became !== "applied") continue;
      if (request.kind === "publish" && written.length === 1)
        yield* this.#published(request, each, call.args[1] as number);
      for (const sent of sentBy(each)) {
        const after = runs.find(({ after: { record, isCurrent } }) => isCurrent && isOf(record, sent))?.after;
        if (after !== undefined) yield* overfull(sent, after);
      }
    }
  }

  /** One event for every wait on the topic that is registered, not over and not spoken for. */
  *#published({ topic }: PublishRequest, { outcome }: Written, now: number): Generator<Finding> {
    if (outcome.kind !== "published") return;
    let expected = 0;
    for (const { record, steps, events } of this.#before.values()) {
      if (isTerminal(record.status)) continue;
      for (const step of steps) {
        if (step.status !== "waiting" || step.topic !== topic || step.wakeAt < now) continue;
        const isSpokenFor = events.some(
          ({ forStep, deliveredAt }) => forStep === step.key && deliveredAt === null,
        );
        if (!isSpokenFor) expected++;
      }
    }
    if (outcome.waiters === expected) return;
    yield {
      invariant: "INV-24",
      message: `a publication reached ${outcome.waiters} waits, where ${expected} were open`,
    };
  }
}

function sentBy({ request }: Written): readonly SendEventRequest[] {
  if (request.kind === "sendEvent") return [request];
  if (request.kind !== "commit") return [];
  return request.alongside.flatMap((other) => (other.kind === "sendEvent" ? other : []));
}

/** A wait that is completed took an event. What a fork or a restart began with was taken in another run. */
function* unheard(facts: RunFacts): Generator<Finding> {
  const { record, steps, events } = facts;
  const begunAt = record.startedAt ?? Number.POSITIVE_INFINITY;
  const takers = new Set(events.map(({ consumedBy }) => consumedBy));
  for (const step of steps) {
    if (step.type !== "waitForEvent" || step.status !== "completed" || step.createdAt < begunAt) continue;
    if (!takers.has(step.key))
      yield {
        invariant: "INV-24",
        message: `"${step.key}" of ${nameOf(facts)} is completed, but took no event`,
      };
  }
}

function* doubled(facts: RunFacts): Generator<Finding> {
  const ids = facts.events.map(({ id }) => id);
  const again = ids.find((id, at) => ids.indexOf(id) !== at);
  if (again !== undefined)
    yield { invariant: "INV-25", message: `event "${again}" is in ${nameOf(facts)} twice` };
}

function* overfull({ bufferMax, system }: SendEventRequest, facts: RunFacts): Generator<Finding> {
  const buffered = facts.events.filter(({ deliveredAt }) => deliveredAt === null).length;
  if (system || buffered <= bufferMax) return;
  yield {
    invariant: "INV-48",
    message: `${nameOf(facts)} holds ${buffered} events; it may hold ${bufferMax}`,
  };
}
