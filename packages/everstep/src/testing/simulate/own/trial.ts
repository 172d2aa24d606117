/**
 * One seed of somebody's own workflows: the scenario is played while things go wrong; after a while nothing goes wrong any
 * more, and everything must come to its end; then the invariants are asked.
 *
 *   storm -> healed -> at rest
 *   any   -> broken             the first finding ends the world
 */
import type { App } from "../../../client/app.ts";
import { EverstepError } from "../../../model/error.ts";
import type { Store } from "../../../store/store.ts";
import type { Tape } from "../choices.ts";
import { Broken, type Finding } from "../finding.ts";
import { Breaks } from "./breaks.ts";
import { Judgement } from "./judgement.ts";
import type { ScenarioContext, Settings, SimulatedWorkflows } from "./options.ts";
import { Rest } from "./rest.ts";
import { Stage } from "./stage.ts";
import { Trouble } from "./trouble.ts";
import { unfinishedWords } from "./unfinished.ts";

export interface TrialResult {
  readonly seed: number | string;
  readonly finding: Finding | null;
  readonly tape: () => Tape;
  readonly schedule: () => readonly string[];
  /** How many things went wrong. */
  readonly faults: number;
  /** The same for the same seed and code. */
  readonly hash: string;
  readonly sightings: ReadonlyMap<string, number>;
  /** Something happened in it that was not to happen: a tape said so. */
  readonly hasUnwanted: boolean;
}

const everythingEnds = "everything comes to its end";
const scenarioSucceeds = "the scenario runs to its end";
const nothingEscapes = "nothing is thrown where nobody can catch it";
/** Moments after which a world counts as one that goes round in circles. */
const momentsMax = 300_000;
/** How long nothing may be written: longer than the longest sleep or wait. */
const restMsMax = 400 * 24 * 60 * 60 * 1000;
/** Times in which nothing happens, one after the other, after which nobody believes in an end any more. */
const breaksMax = 250;
/** Of virtual time, for those who stood still when the world was healed. */
const afterwardsMs = 2000;

/** One world, from its beginning to its end. `tape`: what was drawn before, to be drawn again. */
export async function tryOut(
  seed: number | string,
  settings: Settings,
  tape: Tape | null = null,
): Promise<TrialResult> {
  const store = (await settings.store?.()) ?? null;
  try {
    return await new Trial(seed, settings, tape, store).run();
  } finally {
    await store?.close();
  }
}

class Trial {
  readonly #seed: number | string;
  readonly #settings: Settings;
  readonly #stage: Stage;
  readonly #judgement: Judgement;
  readonly #rest: Rest;
  readonly #breaks: Breaks;
  readonly #trouble: Trouble;
  #finding: Finding | null = null;
  /** Not a finding: the simulation itself is used wrongly. */
  #misuse: EverstepError | null = null;
  #isScenarioOver = false;
  #isHealed = false;
  /** Whoever stood still when the world was healed has time to say what it was about to. */
  #restsAfter = 0;
  /** When something was last written. */
  #wroteAt = 0;
  /** Something happened since it was last asked whether the world is at rest. */
  #hasNews = true;
  #isAtRest = false;

  constructor(seed: number | string, settings: Settings, tape: Tape | null, store: Store | null) {
    this.#seed = seed;
    this.#settings = settings;
    const stage = new Stage({
      seed,
      settings,
      tape,
      store,
      onNews: (member) => {
        this.#hasNews = true;
        if (member) this.#breaks?.woken(member);
      },
      onWrite: async () => {
        this.#wroteAt = this.#stage.world.elapsed;
        if (!this.#finding) await this.#judgement.ask(settings.always);
      },
      onBroken: (error) => this.#broke(error),
    });
    this.#stage = stage;
    const { world, fleet, caller, time, schedule, bodies } = stage;
    const { mustEnd } = settings;
    const facts = (): ReturnType<Stage["facts"]> => stage.facts();
    const isScenarioOver = (): boolean => this.#isScenarioOver;
    this.#judgement = new Judgement(seed, stage);
    this.#rest = new Rest({ world, facts, fleet, bodies, caller, time, mustEnd, isScenarioOver });
    this.#breaks = new Breaks({ world, fleet, schedule, onOver: () => this.#breakIsOver() });
    this.#trouble = new Trouble(stage);
  }

  async run(): Promise<TrialResult> {
    const { choices, schedule, sightings } = this.#stage;
    try {
      this.#trouble.start();
      this.#play();
      await this.#live();
      if (!this.#finding) await this.#lastLook();
    } catch (error) {
      this.#broke(error);
    }
    await this.#stage.close();
    if (this.#misuse) throw this.#misuse;
    return {
      seed: this.#seed,
      finding: this.#finding,
      tape: () => choices.tape,
      schedule: () => schedule.lines,
      faults: schedule.faults,
      hash: schedule.hash,
      sightings: sightings.counts,
      hasUnwanted: this.#stage.hasUnwanted,
    };
  }

  // ---------------------------------------------------------------------------------------------- the course of it

  #play(): void {
    const { works, time, caller, state } = this.#stage;
    const app = caller.app as App<SimulatedWorkflows>;
    const context: ScenarioContext<SimulatedWorkflows, unknown> = {
      app,
      workflows: app.workflows,
      clock: time.clockOutside(),
      random: time.random("scenario"),
      state,
      seed: this.#seed,
    };
    const scenario = this.#settings.scenario ?? oneOfEach;
    const isOver = (): void => {
      this.#isScenarioOver = true;
      this.#hasNews = true;
    };
    const threw = (error: unknown): void =>
      this.#broke(
        new Broken({ invariant: scenarioSucceeds, message: `the scenario threw ${errorText(error)}` }),
      );
    works.run(time.outside("The scenario"), () => scenario(context)).then(isOver, threw);
  }

  async #live(): Promise<void> {
    const { world, works } = this.#stage;
    for (;;) {
      await world.run(() => this.#isInterrupted());
      if (this.#isBroken || this.#isAtRest) return;
      if (!works.isBusy) return this.#neverEnds();
      await works.settled();
    }
  }

  /** Asked before every moment. */
  #isInterrupted(): boolean {
    const { world, works, weather } = this.#stage;
    const breaks = this.#breaks;
    if (this.#isBroken || works.isBusy) return true;
    if (world.moments > momentsMax || breaks.count > breaksMax || this.#isTooLate) {
      this.#neverEnds();
      return true;
    }
    if (breaks.isOn) return false;
    if (!this.#isHealed && world.elapsed - breaks.sumMs >= weather.stormMs) this.#heal();
    if (this.#hasNews && world.elapsed >= this.#restsAfter) this.#lookAround();
    return this.#isBroken || this.#isAtRest;
  }

  get #isBroken(): boolean {
    return this.#finding !== null || this.#misuse !== null;
  }

  get #isTooLate(): boolean {
    const { world, time } = this.#stage;
    return world.elapsed - this.#wroteAt > restMsMax && time.wakesAt === Number.POSITIVE_INFINITY;
  }

  #lookAround(): void {
    const { world } = this.#stage;
    this.#hasNews = false;
    if (this.#rest.isReached) {
      // What was cut off, stands still or is late may still have something to say.
      if (this.#isHealed) this.#isAtRest = true;
      else this.#heal();
      return;
    }
    const until = this.#rest.quietUntil;
    if (until === null) return;
    this.#trouble.end();
    this.#breaks.take(Math.min(until - world.now, restMsMax));
  }

  #breakIsOver(): void {
    this.#hasNews = true;
    if (!this.#isHealed) this.#trouble.start();
  }

  /** Nothing goes wrong any more, and everybody is back. */
  #heal(): void {
    const { fleet, bodies, caller, schedule, world } = this.#stage;
    this.#isHealed = true;
    this.#hasNews = true;
    bodies.isHealed = true;
    caller.isHealed = true;
    this.#trouble.end();
    const areDisturbed = fleet.places.some(({ member }) => member?.process.state !== "running");
    fleet.heal(() => false);
    if (schedule.faults > 0 && (areDisturbed || !this.#rest.isReached))
      schedule.line("healed", () => "from here on nothing goes wrong any more");
    if (!areDisturbed) return;
    this.#restsAfter = world.elapsed + afterwardsMs;
    world.after(afterwardsMs, () => {
      this.#hasNews = true;
    });
  }

  // ---------------------------------------------------------------------------------------------- what is found

  async #lastLook(): Promise<void> {
    await this.#stage.lookAtAll();
    for (const { workflow, status, error } of this.#judgement.instances)
      this.#stage.sightings.saw(`${workflow}: ${status}${error ? ` (${error.code ?? error.name})` : ""}`);
    await this.#judgement.ask({ ...this.#settings.always, ...this.#settings.invariants });
  }

  #neverEnds(): void {
    const message = unfinishedWords(this.#rest.unfinished, this.#isScenarioOver);
    this.#broke(new Broken({ invariant: everythingEnds, message }));
  }

  #broke(error: unknown): void {
    if (this.#isBroken) return;
    if (error instanceof EverstepError) this.#misuse = error;
    else {
      const escaped = { invariant: nothingEscapes, message: errorText(error) };
      const finding = error instanceof Broken ? error.finding : escaped;
      this.#finding = finding;
      this.#stage.schedule.line("broken", () => `here "${finding.invariant}" does not hold`);
    }
  }
}

async function oneOfEach({ workflows }: ScenarioContext<SimulatedWorkflows, unknown>): Promise<void> {
  await Promise.all(
    Object.values(workflows).map((workflow) => workflow.create({ id: `${workflow.name}-1` })),
  );
}

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { readonly code?: unknown };
  return `${error.name}${typeof code === "string" ? ` ${code}` : ""}: ${error.message}`;
}
