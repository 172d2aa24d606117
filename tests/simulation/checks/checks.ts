/**
 * All that is checked beside the rules of `verify`: against what went over the wire, not only against records. A world
 * tells of everything that happens in it and is told of broken promises.
 */
import type { RunId } from "../../../packages/everstep/src/model/instance.ts";
import type { Claim } from "../../../packages/everstep/src/model/lease.ts";
import type { Store, StoreOutcome } from "../../../packages/everstep/src/store/store.ts";
import type { StoreCall } from "../../../packages/everstep/src/testing/intercept-store.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Entry, Ledger } from "../../../packages/everstep/src/testing/simulate/ledger.ts";
import { refill } from "../../../packages/everstep/src/testing/simulate/refill.ts";
import type { Watch } from "../../../packages/everstep/src/testing/simulate/watch.ts";
import type { Fate, Weather } from "../../../packages/everstep/src/testing/simulate/weather.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import type { Act } from "../programs/program.ts";
import type { Markable } from "../world-data.ts";
import { type Applied, type Check, Memory } from "./applied.ts";
import { attempts } from "./attempts.ts";
import { belongings } from "./belongings.ts";
import { Bodies } from "./bodies.ts";
import { Budgets } from "./budgets.ts";
import { Claims } from "./claims.ts";
import { CrashLoops } from "./crash-loops.ts";
import { Crashes } from "./crashes.ts";
import { Deaths } from "./deaths.ts";
import { Decisions } from "./decisions.ts";
import { Events } from "./events.ts";
import { inputs } from "./inputs.ts";
import { Inside } from "./inside.ts";
import { KeptLeases } from "./kept-leases.ts";
import { Lateness } from "./lateness.ts";
import { NoEffect } from "./no-effect.ts";
import { Pauses } from "./pauses.ts";
import { Rates } from "./rates.ts";
import { Repeats } from "./repeats.ts";
import { Stops } from "./stops.ts";
import { Timeouts } from "./timeouts.ts";
import { VoidBodies } from "./void-bodies.ts";

export interface ChecksParts {
  readonly watch: Watch;
  readonly ledger: Ledger;
  /** A handle of its own, which no fault reaches. */
  readonly store: Store;
  readonly weather: Weather;
  /** Nothing goes wrong in this world. */
  readonly isCalm: boolean;
  readonly maxCrashes: number;
  readonly programOf: (params: unknown) => Act;
  readonly workflowName: string;
  readonly rows: ReadonlyMap<string, unknown> | null;
  readonly retried: ReadonlySet<string>;
  /** Begun by a turn that does not know yet that the store has gone back. */
  readonly isStale?: (entry: Entry) => boolean;
  /** The true time. */
  readonly now: () => number;
}

export class Checks {
  readonly #parts: ChecksParts;
  readonly #memory = new Memory();
  readonly #before = new Map<string, RunFacts>();
  readonly #byRun = new Map<RunId, RunFacts>();
  readonly #timeouts = new Timeouts();
  readonly #bodies: Bodies;
  readonly #rates: Rates;
  readonly #stops: Stops;
  readonly #lateness: Lateness;
  readonly #pauses: Pauses;
  readonly #deaths: Deaths;
  readonly #voidBodies: VoidBodies;
  readonly #keptLeases: KeptLeases | null;
  readonly #budgets: Budgets;
  readonly #all: readonly Check[];

  constructor(parts: ChecksParts) {
    this.#parts = parts;
    const { watch, store, weather, now } = parts;
    const { leases, facts } = watch;
    const { settings, latencyMsMax, skewMs } = weather;
    // Leases shorter than a few ways to the store run out though nothing goes wrong.
    const isCalm = parts.isCalm && settings.lease > 20 * latencyMsMax;
    this.#bodies = new Bodies({ ...parts, leases, facts, clocksAgree: skewMs === 0 });
    // Whoever is ticked from outside asks whenever it is ticked.
    const minPollMs = weather.ticked ? 0 : settings.minPoll;
    this.#rates = new Rates({ minPollMs, maxPollMs: settings.maxPoll, now });
    this.#stops = new Stops({ leases, facts, now });
    // A question to the store's clock takes its time, and nobody knows when on the way it was answered.
    const aheadMsMax = skewMs > 0 ? latencyMsMax + 2 : 0;
    const placesMax = isCalm ? settings.concurrency : null;
    this.#lateness = new Lateness({
      replayMsMax: weather.ticked ? Number.POSITIVE_INFINITY : 100 + 20 * latencyMsMax,
      heardMsMax: 0.7 * settings.lease + 20 * latencyMsMax + 100,
    });
    this.#pauses = new Pauses({ facts, answerMsMax: 5 + 2 * latencyMsMax, now });
    this.#voidBodies = new VoidBodies({
      facts,
      toldWithinMs: 1.2 * settings.lease + 10 * latencyMsMax + 100,
    });
    const noticedWithinMs =
      weather.ownership && !weather.ticked
        ? 1000 + 6 * settings.minPoll + 20 * latencyMsMax
        : Number.POSITIVE_INFINITY;
    this.#deaths = new Deaths({ leases, facts, noticedWithinMs, now });
    // With clocks that are wrong a lease may be over for others before its time.
    this.#keptLeases = skewMs > 0 ? null : new KeptLeases({ leaseMs: settings.lease, latencyMsMax, now });
    this.#budgets = new Budgets({ leases, facts, maxMemoryBytes: settings.maxMemoryBytes });
    this.#all = [
      new NoEffect(store),
      new Repeats(),
      new Decisions(),
      new Inside(),
      new Events(this.#before),
      this.#timeouts,
      new Crashes({ isCalm, toleranceMs: 2 * aheadMsMax }),
      new Claims({ leases, facts, placesMax, aheadMsMax }),
      this.#rates,
      this.#lateness,
      this.#pauses,
      this.#deaths,
      this.#voidBodies,
      new CrashLoops(parts),
      ...(this.#keptLeases ? [this.#keptLeases] : []),
      this.#budgets,
    ];
  }

  /** After the watch has looked at what the call touched. */
  async applied(member: Member, call: StoreCall, answer: unknown): Promise<readonly Finding[]> {
    const { watch, now } = this.#parts;
    const changed = new Map<string, RunFacts>();
    const runs: { before: RunFacts | undefined; after: RunFacts }[] = [];
    for (const [name, after] of watch.facts) {
      const before = this.#before.get(name);
      if (before === after) continue;
      changed.set(name, after);
      runs.push({ before, after });
    }
    const written =
      call.method === "write" ? this.#memory.written(call.requests, answer as readonly StoreOutcome[]) : [];
    if (call.method === "claim") for (const claim of answer as readonly Claim[]) this.#bodies.claimed(claim);
    const before = (runId: RunId): RunFacts | undefined => this.#byRun.get(runId);
    const applied: Applied = { member, call, answer, written, runs, before, now: now() };
    const findings: Finding[] = [];
    for (const check of this.#all) findings.push(...(await check.applied(applied)));
    for (const [name, after] of changed) this.#before.set(name, after);
    for (const { after } of runs) this.#byRun.set(after.record.runId, after);
    for (const { request } of written) if (request.kind === "commit") this.#stops.committed(request.lease);
    return findings;
  }

  /** What is known of the store goes back with it; what is known of processes stays. */
  mark(): () => void {
    const before = new Map(this.#before);
    const byRun = new Map(this.#byRun);
    const marks = [this.#memory, this.#bodies, ...this.#all].map((each: Partial<Markable>) => each.mark?.());
    return () => {
      refill(this.#before, before);
      refill(this.#byRun, byRun);
      for (const goBack of marks) goBack?.();
    };
  }

  /** What processes hold, and what they know of, may be something else from now on. */
  wentBack(members: Iterable<Member>): void {
    for (const member of members) {
      this.#stops.disturbed(member);
      this.#budgets.disturbed(member);
    }
  }

  /** Before the start is written into the ledger. */
  begins(entry: Entry): readonly Finding[] {
    this.#voidBodies.begins(entry);
    const untimely = [...this.#bodies.beginsAny(entry)];
    if (this.#parts.isStale?.(entry)) {
      this.#bodies.beginsStale(entry);
      return untimely;
    }
    return [...untimely, ...this.#bodies.begins(entry), ...this.#pauses.begins(entry)];
  }

  called(member: Member, fate: Fate, call: StoreCall): readonly Finding[] {
    if (fate !== "delivered") {
      this.#stops.disturbed(member);
      this.#deaths.disturbed(member, 0);
      this.#lateness.disturbed(member);
      if (fate === "swallowed") this.#keptLeases?.silenced(member, 0);
      else this.#keptLeases?.disturbed(member, 0);
      this.#budgets.disturbed(member);
    }
    return [...this.#rates.called(member, call), ...this.#budgets.called(member, call)];
  }

  /** A process has the answer. */
  answered(member: Member, call: StoreCall, answer: unknown): void {
    this.#budgets.answered(member, call, answer);
  }

  /** A process is frozen, cut off or told to stop, or has stopped. */
  news(member: Member, news: string): readonly Finding[] {
    const [, forMs] = /^(?:frozen|cut off) for (\d+) ms$/.exec(news) ?? [];
    if (forMs !== undefined) {
      this.#stops.disturbed(member);
      this.#voidBodies.disturbed(member);
      this.#lateness.disturbed(member);
      this.#deaths.disturbed(member, Number(forMs));
      this.#keptLeases?.disturbed(member, Number(forMs));
      this.#budgets.disturbed(member);
    }
    if (news.startsWith("cut off")) this.#rates.cutOff(member, Number(forMs));
    if (news === "stops") {
      this.#stops.stops(member);
      this.#bodies.stops(member);
      this.#keptLeases?.disturbed(member, Number.POSITIVE_INFINITY);
      this.#lateness.disturbed(member);
    }
    this.#deaths.news(member, news);
    return news === "stopped" ? [...this.#stops.stopped(member)] : [];
  }

  /** From now on everything arrives. */
  healed(): void {
    this.#rates.healed();
  }

  /** Somebody had a failed step of the instance tried again: its events may be there again. */
  retried(instanceId: string): void {
    for (const { record } of this.#parts.watch.facts.values())
      if (record.instanceId === instanceId) this.#timeouts.forget(record.runId);
  }

  /** When the world has come to its end. */
  end(): readonly Finding[] {
    const { facts } = this.#parts.watch;
    const all = [...facts.values()];
    return [
      ...belongings({ ...this.#parts, facts }),
      ...all.flatMap((each) => [...attempts(each, this.#parts), ...inputs(each, this.#parts)]),
    ];
  }
}
