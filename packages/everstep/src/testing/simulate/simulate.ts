/**
 * Explores crashes, duplicates and orderings of somebody's own workflows, with their own invariants, on the shipped engine,
 * runner and client:
 *
 *   await simulate(
 *     (state) => ({ ORDER: orderWorkflow(state) }),                // or { ORDER: order }
 *     {
 *       state: () => ({ charges: new Map<string, number>() }),     // the outside world of one seed
 *       scenario: async ({ workflows, clock }) => {                // what callers do, in virtual time
 *         const order = await workflows.ORDER.create({ id: "o-1", params: { amount: 10 } });
 *         await clock.sleep("5 seconds");
 *         await order.sendEvent({ type: "paid" });
 *       },
 *       invariants: {
 *         "an order is charged once": ({ state }) => (state.charges.get("o-1") ?? 0) <= 1,
 *       },
 *     },
 *   );
 *
 * Decisions:
 * - It throws, because a test should be one line. What it throws says everything: the invariant, the shortest course of
 *   events that breaks it, and how to play that again. `throws: false` gives the report instead.
 * - Workflows as a function are asked for by every process anew. So `state` is what survives a crash, and variables of
 *   that function are what dies with a process; a plain record has only module variables, which survive everything.
 * - One way through a world: things go wrong, then they do not, then everything must come to its end. There is no mode
 *   without the second half, because most invariants of workflows are about the end. Those under `always` are asked after
 *   every write too.
 * - Real work of bodies is waited for, and no virtual time passes meanwhile: a crash comes before it or after it. What is
 *   to be cut off in the middle waits on the simulated clock there, or is two steps.
 * - `Date`, `Math.random` and `crypto.randomUUID` are those of the seed for code inside, so that code which uses them
 *   where it should not is found, and found again.
 * - Before the seeds come a world in which nothing goes wrong and worlds in which a single thing does, one for every place
 *   (single-faults.ts): that much is tried whatever the seeds are, and most mistakes need no more.
 * - Chance is drawn by label and kept as a tape, so a failure is made smaller by simplifying what was drawn. Its code
 *   stays good as long as the draws it names are still made.
 */
import { systemRuntime } from "../../system-runtime.ts";
import type { Tape } from "./choices.ts";
import { type Finding, signatureOf } from "./finding.ts";
import type { Settings, SimulatedProcess, SimulatedWorkflows, SimulateOptions } from "./own/options.ts";
import { readOptions } from "./own/read-options.ts";
import {
  failureOf,
  SimulationFailed,
  type SimulationFailure,
  type SimulationReport,
  tapeDoesNotFit,
  timeWasUp,
} from "./own/report.ts";
import { withSimulatedGlobals } from "./own/simulated-globals.ts";
import { singleFaults } from "./own/single-faults.ts";
import { type TrialResult, tryOut } from "./own/trial.ts";
import { currentWorker } from "./own/works.ts";
import { shrink } from "./shrink.ts";
import { Sightings } from "./sightings.ts";

/** Tries workflows in many worlds in which things go wrong, each decided by its seed. */
export function simulate<const Workflows extends SimulatedWorkflows, State = Record<never, never>>(
  workflows: (state: State, process: SimulatedProcess) => Workflows,
  options?: SimulateOptions<Workflows, State>,
): Promise<SimulationReport>;
export function simulate<const Workflows extends SimulatedWorkflows, State = Record<never, never>>(
  workflows: Workflows,
  options?: SimulateOptions<Workflows, State>,
): Promise<SimulationReport>;
export async function simulate(
  workflows: unknown,
  // biome-ignore lint/suspicious/noExplicitAny: the overloads say what it is
  options?: SimulateOptions<any, any>,
): Promise<SimulationReport> {
  const settings = readOptions(workflows, options);
  const report = await withSimulatedGlobals(() => forgiving(() => new Simulation(settings).run()));
  if (!report.ok && settings.throws) throw new SimulationFailed(report);
  return report;
}

class Simulation {
  readonly #settings: Settings;
  readonly #sightings = new Sightings();
  readonly #failures: SimulationFailure[] = [];
  readonly #notes: string[] = [];
  readonly #began = systemRuntime.monotonic();
  #worlds = 0;
  #seeds = 0;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  async run(): Promise<SimulationReport> {
    if (this.#settings.replay) await this.#replay();
    else await this.#explore();
    return {
      ok: this.#failures.length === 0,
      worlds: this.#worlds,
      seeds: this.#seeds,
      failures: this.#failures,
      sightings: Object.fromEntries([...this.#sightings.counts].toSorted(([, a], [, b]) => b - a)),
      notes: this.#notes,
      elapsedMs: systemRuntime.monotonic() - this.#began,
    };
  }

  async #explore(): Promise<void> {
    const { seeds, faults } = this.#settings;
    const calm = await this.#try(0, {}, seeds.length + 1);
    const single = singleFaults(calm.tape(), faults, seeds.length);
    const of = 1 + single.length + seeds.length;
    for (const tape of single) {
      if (this.#isOver(of)) return;
      await this.#try(0, tape, of);
    }
    for (const seed of seeds) {
      if (this.#isOver(of)) return;
      await this.#try(seed, null, of);
      this.#seeds++;
    }
  }

  async #try(seed: number, tape: Tape | null, of: number): Promise<TrialResult> {
    const result = await tryOut(seed, this.#settings, tape);
    this.#worlds++;
    this.#sightings.add(result.sightings);
    await this.#found(result, tape);
    this.#settings.onProgress({
      phase: "exploring",
      done: this.#worlds,
      of,
      failures: this.#failures.length,
    });
    return result;
  }

  #isOver(of: number): boolean {
    const { maxFailures, timeBudgetMs } = this.#settings;
    if (this.#failures.length >= maxFailures) return true;
    if (systemRuntime.monotonic() - this.#began < timeBudgetMs) return false;
    this.#notes.push(timeWasUp(this.#worlds, of, timeBudgetMs));
    return true;
  }

  async #replay(): Promise<void> {
    const { replay } = this.#settings;
    if (!replay) return;
    const { seed, choices } = replay;
    const result = await tryOut(seed, this.#settings, choices);
    this.#worlds = 1;
    this.#sightings.add(result.sightings);
    const drawn = new Set(Object.keys(result.tape()));
    const unknown = Object.keys(choices ?? {}).filter((label) => !drawn.has(label));
    if (unknown.length > 0) this.#notes.push(tapeDoesNotFit(unknown));
    if (result.finding) this.#report(result.finding, result, { tape: choices, tries: 0, before: result });
  }

  /** `tape`: what the world was made of, where it was not its seed. */
  async #found(result: TrialResult, tape: Tape | null): Promise<void> {
    const { finding, seed } = result;
    if (!finding || this.#failures.some(({ invariant }) => invariant === finding.invariant)) return;
    const again = await tryOut(seed, this.#settings, tape);
    if (!again.finding || !isSame(again.finding, finding))
      return this.#report(finding, result, { tape, tries: 0, before: result, isRepeatable: false });
    if (tape !== null || this.#settings.shrinkMs === 0)
      return this.#report(finding, result, { tape, tries: 0, before: result });
    await this.#shrink(finding, result);
  }

  async #shrink(finding: Finding, result: TrialResult): Promise<void> {
    const { shrinkMs, shrinkTries, onProgress } = this.#settings;
    const giveUpAt = systemRuntime.monotonic() + shrinkMs;
    let tries = 0;
    let best = result;
    const isStill = async (tape: Tape): Promise<boolean> => {
      const tried = await tryOut(result.seed, this.#settings, tape);
      tries++;
      onProgress({ phase: "shrinking", done: tries, of: shrinkTries, failures: this.#failures.length + 1 });
      if (tried.hasUnwanted || !tried.finding || !isSame(tried.finding, finding)) return false;
      best = tried;
      return true;
    };
    const isOver = (): boolean => systemRuntime.monotonic() >= giveUpAt;
    const tape = await shrink(result.tape(), isStill, { triesMax: shrinkTries, isOver });
    const isSmaller = best !== result;
    this.#report(best.finding ?? finding, best, { tape: isSmaller ? tape : null, tries, before: result });
  }

  #report(
    finding: Finding,
    { seed, schedule, faults }: TrialResult,
    how: {
      readonly tape: Tape | null;
      readonly tries: number;
      readonly before: TrialResult;
      readonly isRepeatable?: boolean;
    },
  ): void {
    const { tape, tries, before, isRepeatable = true } = how;
    this.#failures.push(
      failureOf({
        finding,
        tape: { version: 1, seed, choices: tape },
        schedule: schedule(),
        faults,
        faultsFound: before.faults,
        tries,
        isRepeatable,
      }),
    );
  }
}

/** An invariant of somebody's own is known by its name, whatever numbers its sentence has. */
function isSame(one: Finding, other: Finding): boolean {
  return one.invariant === other.invariant && (!isOurs(one) || signatureOf(one) === signatureOf(other));
}

function isOurs({ invariant }: Finding): boolean {
  return /^(INV|LIV)-\d+$/.test(invariant);
}

/** A promise that fails in a process which is dead by then takes nobody with it. */
async function forgiving<Result>(code: () => Promise<Result>): Promise<Result> {
  const deafen = systemRuntime.onStrayError?.(() => currentWorker()?.process?.state === "dead");
  try {
    return await code();
  } finally {
    deafen?.();
  }
}
