/** Claims take what is due (INV-28, INV-34), by a clock that is right (INV-44), and not more than there are places (INV-47). */
import { isTerminal } from "../../../packages/everstep/src/model/instance.ts";
import type { Claim } from "../../../packages/everstep/src/model/lease.ts";
import type { ClaimRequest } from "../../../packages/everstep/src/store/store.ts";
import type { StoreCall } from "../../../packages/everstep/src/testing/intercept-store.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Leases } from "../../../packages/everstep/src/testing/simulate/leases.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import { type Applied, type Check, nameOf } from "./applied.ts";

export interface ClaimsParts {
  readonly leases: Leases;
  /** Every run as it was last looked at. */
  readonly facts: ReadonlyMap<string, RunFacts>;
  /** Turns that a process may have at once; null where what went wrong may have left it more leases than it knows of. */
  readonly placesMax: number | null;
  /** How far the clocks of processes may be ahead of the true time. */
  readonly aheadMsMax: number;
}

export class Claims implements Check {
  readonly #parts: ClaimsParts;

  constructor(parts: ClaimsParts) {
    this.#parts = parts;
  }

  *applied(applied: Applied): Generator<Finding> {
    const { call, answer, now } = applied;
    yield* this.#ahead(call, now);
    if (call.method === "claim") yield* notDue(applied, answer as readonly Claim[]);
    if (call.method === "claim" || call.method === "write") yield* this.#crowded(applied);
  }

  #ahead(call: StoreCall, now: number): readonly Finding[] {
    const said = timeOf(call);
    if (said === null || said <= now + this.#parts.aheadMsMax) return [];
    return [
      {
        invariant: "INV-44",
        message: `a ${call.method} was made for ${said}, which was ${said - now} ms ahead`,
      },
    ];
  }

  #crowded({ member, now }: Applied): readonly Finding[] {
    const { placesMax, leases, facts } = this.#parts;
    if (placesMax === null) return [];
    const held = [...facts.values()].filter(
      ({ record: { runId, executing, dueAt } }) =>
        executing && (dueAt ?? 0) > now && leases.holderOf(runId) === member,
    );
    if (held.length <= placesMax) return [];
    return [
      {
        invariant: "INV-47",
        message: `process ${member.number} holds ${held.length} runs with ${placesMax} places`,
      },
    ];
  }
}

function* notDue({ call, before }: Applied, claims: readonly Claim[]): Generator<Finding> {
  const { now } = call.args[0] as ClaimRequest;
  for (const { lease } of claims) {
    const facts = before(lease.runId);
    if (facts === undefined) continue;
    const { status, dueAt } = facts.record;
    if (status === "paused" || isTerminal(status))
      yield { invariant: "INV-34", message: `${nameOf(facts)} was claimed, though it was ${status}` };
    else if (dueAt !== null && dueAt > now)
      yield {
        invariant: "INV-28",
        message: `${nameOf(facts)} was claimed at ${now}, though it was due at ${dueAt}`,
      };
  }
}

/** What time the caller said it is. */
function timeOf({ method, args }: StoreCall): number | null {
  switch (method) {
    case "claim":
      return (args[0] as ClaimRequest).now;
    case "write":
    case "release":
      return args[1] as number;
    case "renew":
      return args[2] as number;
    default:
      return null;
  }
}
