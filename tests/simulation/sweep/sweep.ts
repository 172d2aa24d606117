/**
 * One program, one fault: first a calm world in which every call to the store is counted, then for every call and every
 * way in which it can go wrong a world of its own, which must come to the same.
 */
import type { StoreCall } from "../../../packages/everstep/src/testing/intercept-store.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Course } from "../../../packages/everstep/src/testing/simulate/wire.ts";
import { inWords } from "../programs/perform.ts";
import type { SmallData } from "../small-world/small-data.ts";
import { SmallWorld } from "../small-world/small-world.ts";
import { upshotOf } from "../small-world/upshot.ts";
import { befall, isWriting, type Strike, strikeOf } from "../strikes.ts";
import {
  type Caller,
  callInWords,
  isIdle,
  type Layout,
  type SeenCall,
  type SweepCase,
  type SweepProgram,
  type Swept,
} from "./sweep-case.ts";
import { calmVerdict, verdict } from "./sweep-verdict.ts";

export function calmly(program: SweepProgram, layout: Layout, data: SmallData): Promise<Swept> {
  return new Sweep(program, layout, data, null).run();
}

/** The world of one case; `calm` is what it must come to. */
export function struck(
  program: SweepProgram,
  given: SweepCase,
  calm: Swept,
  data: SmallData,
): Promise<Swept> {
  return new Sweep(program, given.layout, data, { ...given, strike: strikeOf(given.strike), calm }).run();
}

interface Blow extends Omit<SweepCase, "strike"> {
  readonly strike: Strike;
  readonly calm: Swept;
}

/** How long a world may take until it is at rest, beside what it took in a calm one. */
const patienceMs = 60_000;
/** How long after its start a process that does both makes its first call: by then its runner has places to offer. */
const settledMs = 50;
/** One way of a call that nothing is planned for. */
const wayMs = 0.02;

class Sweep {
  readonly #program: SweepProgram;
  readonly #layout: Layout;
  readonly #data: SmallData;
  readonly #blow: Blow | null;
  readonly #small: SmallWorld;
  readonly #calls = { runner: [] as SeenCall[], caller: [] as SeenCall[] };
  /** Who has calls to make, and whether they were all answered. */
  readonly #callers = new Map<Member, boolean>();
  #isStruck = false;
  /** When the fault has no more effect of its own. */
  #overAt = 0;

  constructor(program: SweepProgram, layout: Layout, data: SmallData, blow: Blow | null) {
    this.#program = program;
    this.#layout = layout;
    this.#data = data;
    this.#blow = blow;
    this.#small = new SmallWorld({
      data,
      workflows: program.workflows,
      sameOwner: blow?.aftermath === "same name",
      isCalm: blow === null,
      nudges: layout === "nudged",
      settings: { maxResidents: layout === "apart" ? 0 : 10 },
      onStarted: (member) => this.#started(member),
    });
  }

  async run(): Promise<Swept> {
    const { fleet, world, settings, explanations } = this.#small;
    for (const explanation of this.#program.explains ?? []) explanations.add(explanation);
    if (this.#blow?.strike.kind === "crash") explanations.add("died-giving-up");
    const { member } = fleet.place("runner", { runs: true });
    const { stops } = this.#program;
    if (stops && member) world.after(stops.afterMs, () => fleet.leave(member, stops.graceMs));
    if (this.#layout !== "together") fleet.place("caller", { runs: false });
    await this.#small.run(() => this.#isAtRest(), (this.#blow?.calm.elapsedMs ?? 0) + patienceMs);
    const elapsedMs = world.elapsed;
    if (!this.#isAtRest()) this.#neverRests();
    // What nobody waits for may still happen.
    await this.#small.run(() => false, settings.poll * 1.5);
    // Nobody dies, loses a lease or stops in the middle of a body.
    const isCalm = (this.#blow?.strike.kind ?? "error") === "error" && !this.#program.stops;
    const all = await this.#small.lastLook({ isCalm });
    const upshot = await upshotOf(all, this.#small.ledger, this.#data.openStore());
    const came = { upshot, rows: [...this.#data.rows()].sort(), elapsedMs };
    if (this.#blow) this.#judge(this.#blow, came);
    else for (const finding of calmVerdict(came, this.#program)) this.#small.broke(finding);
    await this.#small.close();
    const { finding, trace } = this.#small;
    return { finding, ...came, calls: this.#calls, hash: trace.hash, trace: () => trace.lines };
  }

  #started(member: Member): void {
    const { place, wire } = member;
    if (this.#blow === null) {
      if (this.#calls[place.name as "runner" | "caller"].length === 0) this.#count(member);
    } else if (place.name === this.#blow.whose && !this.#isStruck) {
      const blow = this.#blow;
      wire.planned = (call, number) => (number === blow.at ? this.#strike(blow, member, call) : null);
    }
    const isFirst = this.#callers.size === 0;
    // Only who takes the place of one that died has its calls to make.
    const isFree = isFirst || this.#blow?.strike.kind === "crash";
    if (isFree && (this.#layout === "together" || !place.runs)) void this.#makeCalls(member, !isFirst);
  }

  async #makeCalls(member: Member, again: boolean): Promise<void> {
    const { app, process, place } = member;
    const pause = (ms: number): Promise<void> =>
      new Promise((resolve) => {
        process.runtime.timer(resolve, ms);
      });
    const caller: Caller = { app, again, outside: this.#small.outside, pause };
    this.#callers.set(member, false);
    try {
      if (place.runs) await pause(settledMs);
      await this.#program.calls(caller);
      this.#callers.set(member, true);
    } catch (error) {
      const message = `a caller was answered with ${inWords(error)}: ${String(error)}`;
      this.#small.broke({ invariant: "INV-49", message });
    }
  }

  #count({ place, wire }: Member): void {
    const { world } = this.#small;
    const calls = this.#calls[place.name as "runner" | "caller"];
    wire.planned = (call, number) => async (apply) => {
      const seen = { words: callInWords(call), writes: isWriting(call), isIdle: false };
      calls[number] = seen;
      await world.sleep(wayMs);
      const answer = await apply();
      seen.isIdle = isIdle(call, answer);
      await world.sleep(wayMs);
      return answer;
    };
  }

  #strike({ strike, aftermath, at, call: expected }: Blow, member: Member, call: StoreCall): Course {
    const { world, fleet, trace, settings } = this.#small;
    const words = callInWords(call);
    const message = `call ${at} is "${words}" here, and was "${expected}" in the calm world`;
    if (words !== expected) this.#small.broke({ invariant: "determinism", message });
    this.#isStruck = true;
    this.#overAt = world.elapsed + strike.lasts * settings.lease;
    trace.line(`HERE ${member.place.name} ${words}: ${strike.name}, ${aftermath}`);
    this.#small.disturb(member, call);
    const site = { world, fleet, member, leaseMs: settings.lease };
    befall(site, strike, aftermath);
    const course = strike.course(site);
    return async (apply) => {
      await world.sleep(wayMs);
      return course(apply);
    };
  }

  #isAtRest(): boolean {
    const { world, unfinished } = this.#small;
    const callers = [...this.#callers];
    const isAnswered = callers.some(([, isDone]) => isDone);
    const isOpen = callers.some(([{ process }, isDone]) => !isDone && process.state !== "dead");
    return isAnswered && !isOpen && world.elapsed >= this.#overAt && unfinished.length === 0;
  }

  #neverRests(): void {
    const left = this.#small.unfinished.map(
      ({ record }) => `${record.instanceId} is ${record.status}, due at ${record.dueAt}`,
    );
    const open = [...this.#callers.values()].includes(false) ? ["a caller was never answered"] : [];
    this.#small.broke({ invariant: "LIV-1", message: `no rest: ${[...left, ...open].join("; ")}` });
  }

  #judge({ strike, calm }: Blow, came: Pick<Swept, "upshot" | "rows" | "elapsedMs">): void {
    const { settings } = this.#small;
    const message = "the call that was to go wrong was never made";
    if (!this.#isStruck) this.#small.broke({ invariant: "determinism", message });
    for (const finding of verdict(calm, came, { program: this.#program, strike, settings }))
      this.#small.broke(finding);
  }
}
