/** What no body may do, checked the moment it begins: against the last look at its run and all starts before it. */

import { Broken } from "./finding.ts";
import type { Entry, Ledger } from "./ledger.ts";
import { refill } from "./refill.ts";
import type { Watch } from "./watch.ts";
import type { Weather } from "./weather.ts";

export interface BodyRulesParts {
  readonly watch: Watch;
  readonly weather: Weather;
  /** Begun by a turn that does not know yet that the store has gone back. */
  readonly isStale?: (entry: Entry) => boolean;
  /** Begun by such a turn in a run that is lost, or in the run that has its name now. */
  readonly isEither?: (entry: Entry) => boolean;
  readonly now: () => number;
}

export class BodyRules {
  readonly #parts: BodyRulesParts;
  readonly #seen = new Map<string, string>();
  /** How many runs of a name the store has lost. */
  readonly #lost = new Map<string, number>();

  constructor(parts: BodyRulesParts) {
    this.#parts = parts;
  }

  /** What was in view since then may come out otherwise. Goes back before the watch does, which knows what there was. */
  mark(): () => void {
    const { facts } = this.#parts.watch;
    const seen = new Map(this.#seen);
    const runs = new Set(facts.keys());
    return () => {
      refill(this.#seen, seen);
      for (const run of facts.keys()) if (!runs.has(run)) this.#lost.set(run, this.#lostOf(run) + 1);
    };
  }

  #lostOf(run: string): number {
    return this.#lost.get(run) ?? 0;
  }

  begins(entry: Entry, ledger: Ledger): void {
    const isStale = this.#parts.isStale?.(entry) === true;
    const lost = this.#lostOf(entry.run);
    entry.lostBefore = Math.max(0, lost - (isStale ? 1 : 0));
    entry.isLost = isStale && lost > 0;
    if (this.#parts.isEither?.(entry)) entry.lostBefore = null;
    else this.#onlyOnceAtATime(entry, ledger);
    if (isStale) return;
    this.#sameView(entry);
    this.#notPaused(entry);
    // With clocks that are wrong, two may believe to hold a lease for a while; only their writes are fenced then.
    if (this.#parts.weather.skewMs > 0) return;
    this.#notCompleted(entry);
    this.#notEnded(entry);
    this.#byTheHolder(entry);
  }

  /** A step of this run was given another chance: what follows it may see something else now. */
  forget(run: string): void {
    for (const key of [...this.#seen.keys()]) if (key.startsWith(`${run}/`)) this.#seen.delete(key);
  }

  /** A turn in a run that is lost goes on until the store answers it, whatever run has its name now. */
  #onlyOnceAtATime({ key, member, lostBefore }: Entry, ledger: Ledger): void {
    const others = ledger
      .of(key)
      .filter((other) => other.member === member && other.lostBefore === lostBefore)
      .filter(({ how }) => how === "under way");
    if (others.some(({ signal }) => !signal.aborted)) {
      throw new Broken({ invariant: "INV-13", message: `${key} began in a process where it was under way` });
    }
  }

  #sameView({ key, seen }: Entry): void {
    const before = this.#seen.get(key);
    this.#seen.set(key, seen);
    if (before === undefined || before === seen) return;
    throw new Broken({
      invariant: "INV-15",
      message: `${key} began with "${seen}" in view, where it had been "${before}" (INV-16, INV-17, INV-18)`,
    });
  }

  #notCompleted({ key, run, stepKey }: Entry): void {
    const step = this.#parts.watch.facts.get(run)?.steps.find((each) => each.key === stepKey);
    if (step === undefined || step.status === "waiting") return;
    throw new Broken({ invariant: "INV-8", message: `${key} began after it was recorded as ${step.status}` });
  }

  /** Whoever completes a run is the only one to go on with it. Somebody else's decision may be news to its runner. */
  #notEnded({ key, run, member }: Entry): void {
    const status = this.#parts.watch.facts.get(run)?.record.status;
    if (status !== "complete" && status !== "errored") return;
    throw new Broken({
      invariant: "INV-33",
      message: `${key} began in process ${member.number}, though its instance is ${status}`,
    });
  }

  #byTheHolder({ key, run, member }: Entry): void {
    const record = this.#parts.watch.facts.get(run)?.record;
    if (!record)
      throw new Broken({ invariant: "INV-8", message: `${key} began in a run that nobody created` });
    const holder = this.#parts.watch.leases.holderOf(record.runId);
    if (holder === member || this.#justDecided(record.updatedAt)) return;
    throw new Broken({
      invariant: "INV-6",
      message: `${key} began in process ${member.number}, but the lease is with ${holder?.number ?? "nobody"}`,
    });
  }

  /** Once a pause had time to reach whoever holds the lease, nothing begins. */
  #notPaused({ key, run, member }: Entry): void {
    const { facts, pausedSince } = this.#parts.watch;
    const record = facts.get(run)?.record;
    if (record?.status !== "paused" || record.pausedAt === null) return;
    const { settings, skewMs } = this.#parts.weather;
    const sinceMs = this.#parts.now() - Math.max(record.pausedAt, pausedSince.get(run) ?? 0);
    if (skewMs > 0 || sinceMs <= settings.lease) return;
    throw new Broken({
      invariant: "INV-34",
      message: `${key} began in process ${member.number} ${sinceMs} ms after its instance was paused`,
    });
  }

  /** Somebody terminated or restarted it while its runner was on the way to its next body. */
  #justDecided(updatedAt: number): boolean {
    return this.#parts.now() - updatedAt <= this.#parts.weather.settings.lease;
  }
}
