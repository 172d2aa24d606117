/**
 * What no body may do, seen the moment it begins: begin without its run's lease (INV-6) or after its process was told to
 * stop (LIV-6), again where it must not be repeated (INV-9), after too many crashes (INV-14), or before what its code has
 * seen is durable (INV-8).
 */
import { decodeValue } from "../../../packages/everstep/src/authoring/codec.ts";
import type { RunId } from "../../../packages/everstep/src/model/instance.ts";
import type { Claim } from "../../../packages/everstep/src/model/lease.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Leases } from "../../../packages/everstep/src/testing/simulate/leases.ts";
import type { Entry, Ledger } from "../../../packages/everstep/src/testing/simulate/ledger.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import { placeOf } from "../programs/perform.ts";
import type { Act } from "../programs/program.ts";
import { actAt } from "./act-at.ts";

export interface BodiesParts {
  readonly leases: Leases;
  readonly facts: ReadonlyMap<string, RunFacts>;
  readonly ledger: Ledger;
  readonly programOf: (params: unknown) => Act;
  /** Instances of which somebody had a failed step tried again. */
  readonly retried: ReadonlySet<string>;
  readonly maxCrashes: number;
  /** Clocks agree, so a lease that is over by one is over by all. */
  readonly clocksAgree: boolean;
  readonly now: () => number;
}

export class Bodies {
  readonly #parts: BodiesParts;
  readonly #stopping = new Set<Member>();
  /** Runs whose last lease but one ran out, and whose holder had been heard of. */
  readonly #heard = new Set<RunId>();
  /** Starts of a body that no record tells of, because the store has lost it. */
  readonly #lost = new Map<string, number>();

  constructor(parts: BodiesParts) {
    this.#parts = parts;
  }

  /** What began since then is recorded nowhere. */
  mark(): () => void {
    const { entries } = this.#parts.ledger;
    const count = entries.length;
    return () => {
      for (const { key } of entries.slice(count)) this.#lose(key);
    };
  }

  claimed({ lease: { runId }, left }: Claim): void {
    if (left.ranOut && left.commit > 0) this.#heard.add(runId);
    else this.#heard.delete(runId);
  }

  /** A turn that does not know yet that the store has gone back begins something. */
  beginsStale({ key }: Entry): void {
    this.#lose(key);
  }

  #lose(key: string): void {
    this.#lost.set(key, (this.#lost.get(key) ?? 0) + 1);
  }

  /** Nothing begins in it from now on. */
  stops(member: Member): void {
    this.#stopping.add(member);
  }

  /** What holds whatever the store has lost. */
  *beginsAny({ key, member }: Entry): Generator<Finding> {
    if (this.#stopping.has(member))
      yield {
        invariant: "LIV-6",
        message: `${key} began in process ${member.number}, which was told to stop`,
      };
  }

  *begins(entry: Entry): Generator<Finding> {
    const { key, run, member } = entry;
    const found = (invariant: string, message: string): Finding => ({
      invariant,
      message: `${key} began ${message}`,
    });
    const facts = this.#parts.facts.get(run);
    if (facts === undefined) return;
    const { crashCount, runId } = facts.record;
    const { maxCrashes } = this.#parts;
    // A single lease that ran out, and that nobody was heard under, proves nothing.
    if (crashCount >= maxCrashes && (crashCount > 1 || this.#heard.has(runId)))
      yield found("INV-14", `after ${crashCount} crashes; at ${maxCrashes} it is given up`);
    for (const message of this.#withoutLease(facts, member)) yield found("INV-6", message);
    for (const message of this.#again(entry, facts)) yield found("INV-9", message);
    for (const message of tooEarly(entry, facts)) yield found("INV-8", message);
  }

  *#withoutLease({ record }: RunFacts, member: Member): Generator<string> {
    const { leases, clocksAgree, now } = this.#parts;
    if (!clocksAgree) return;
    const holder = leases.holderOf(record.runId);
    if (holder !== null && holder !== member)
      yield `in process ${member.number}, but the lease is with ${holder.number}`;
    // A process reads whole milliseconds.
    const overMs = now() - (record.dueAt ?? 0);
    if (holder === member && record.executing && overMs > 1)
      yield `in process ${member.number}, whose lease was over since ${overMs} ms`;
  }

  *#again({ key, run, stepKey }: Entry, { record, steps }: RunFacts): Generator<string> {
    const { ledger, programOf, retried } = this.#parts;
    const starts = ledger.of(key).length - (this.#lost.get(key) ?? 0);
    if (starts <= 0 || retried.has(record.instanceId)) return;
    const step = steps.find((each) => each.key === stepKey);
    const name = step?.name ?? stepKey.slice(stepKey.lastIndexOf("/") + 1);
    const act = actAt(programOf(decodeValue(record.params)), name.slice(name.indexOf(" ") + 1));
    if (act?.kind !== "do" || act.ifInterrupted !== "fail") return;
    const attempts = step?.attempts ?? 0;
    if (attempts < starts)
      yield `again in ${run}, with ${attempts} of ${starts} starts recorded; it must not be repeated`;
  }
}

/** Steps whose results the code has seen are recorded before its next body begins. */
function* tooEarly({ seen }: Entry, { steps }: RunFacts): Generator<string> {
  for (const [, path] of seen.matchAll(/did (0[\dr.]*)/g)) {
    const step = steps.find((each) => each.name.startsWith("do ") && placeOf(each) === path);
    if (step?.status !== "completed")
      yield `though "do ${path}", which it has seen, is ${step?.status ?? "not"} recorded`;
  }
}
