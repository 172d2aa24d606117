/**
 * One seed of somebody's own workflows: the scenario is played while things go wrong; after a while nothing goes wrong any
 * more, and everything must come to its end; then the invariants are asked.
 *
 *   storm -> healed -> at rest      times in which nothing can happen are skipped, and count for nothing
 *   any   -> broken                 the first finding ends the world
 */
import type { App } from "../../../client/create-workflows.ts";
import { EverstepError } from "../../../model/error.ts";
import type { Store } from "../../../store/store.ts";
import type { Tape } from "../choices.ts";
import { Broken, type Finding } from "../finding.ts";
import type { Member } from "../fleet.ts";
import { Misfortune } from "../misfortune.ts";
import { firstBroken, type InvariantContext, type Invariants, Looks } from "./invariants.ts";
import type { ScenarioContext, Settings, SimulatedWorkflows } from "./options.ts";
import { Pauses } from "./pauses.ts";
import { Rest } from "./rest.ts";
import { lengthText } from "./schedule.ts";
import { Stage } from "./stage.ts";
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
/** How long a world may take that nobody brings anything: longer than the longest sleep or wait. */
const restMsMax = 400 * 24 * 60 * 60 * 1000;
/** Times in which nothing happens, one after the other, after which nobody believes in an end any more. */
const breaksMax = 250;

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
  readonly #looks: Looks;
  readonly #rest: Rest;
  readonly #pauses: Pauses;
  #misfortune: Misfortune;
  #finding: Finding | null = null;
  /** Not a finding: the simulation itself is used wrongly. */
  #misuse: unknown = null;
  #isScenarioOver = false;
  #isHealed = false;
  /** Whoever stood still when the world was healed has time to say what it was about to. */
  #restsAfter = 0;
  #isAsleep = false;
  #sleptMs = 0;
  #breaks = 0;
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
        if (member && this.#isAsleep) this.#putToSleep(member);
      },
      onWrite: () => this.#ask(settings.always),
      onBroken: (error) => this.#broke(error),
    });
    this.#stage = stage;
    const { world, choices, weather, fleet, bodies, caller, app, time } = stage;
    this.#looks = new Looks(stage.workflows);
    this.#rest = new Rest({
      now: () => world.now,
      facts: () => stage.facts(),
      fleet,
      bodies,
      caller,
      mustEnd: settings.mustEnd,
      isScenarioOver: () => this.#isScenarioOver,
      scenarioWakesAt: () => time.wakesAt,
    });
    this.#pauses = new Pauses({
      world,
      choices,
      everyMs: weather.pauseEveryMs,
      app,
      facts: () => stage.facts(),
      during: (work) => caller.during(work),
    });
    this.#misfortune = new Misfortune({ world, choices, weather, fleet });
  }

  async run(): Promise<TrialResult> {
    const { choices, schedule, sightings } = this.#stage;
    try {
      this.#misfortune.start();
      this.#pauses.start();
      this.#play();
      await this.#live();
      if (!this.#finding) await this.#lastLook();
    } catch (error) {
      this.#broke(error);
    }
    await this.#stage.close();
    if (this.#misuse !== null) throw this.#misuse;
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
    works
      .run(time.outside("The scenario"), () => scenario(context))
      .then(
        () => {
          this.#isScenarioOver = true;
          this.#hasNews = true;
        },
        (error: unknown) =>
          this.#broke(
            new Broken({ invariant: scenarioSucceeds, message: `the scenario threw ${errorText(error)}` }),
          ),
      );
  }

  async #live(): Promise<void> {
    const { world, works } = this.#stage;
    for (;;) {
      await world.run(() => this.#isInterrupted());
      if (this.#finding || this.#misuse !== null || this.#isAtRest) return;
      if (!works.isBusy) return this.#neverEnds();
      await works.settled();
    }
  }

  /** Asked before every moment. */
  #isInterrupted(): boolean {
    const { world, works, weather } = this.#stage;
    if (this.#finding || this.#misuse !== null || works.isBusy) return true;
    if (this.#isAsleep) return false;
    if (world.moments > momentsMax || this.#breaks > breaksMax || this.#isTooLate) this.#neverEnds();
    else if (!this.#isHealed && world.elapsed - this.#sleptMs >= weather.stormMs) this.#heal();
    if (this.#hasNews && world.elapsed >= this.#restsAfter) this.#lookAround();
    return this.#finding !== null || this.#isAtRest;
  }

  get #isTooLate(): boolean {
    const { world, caller, time } = this.#stage;
    return world.elapsed - caller.lastHeardAt > restMsMax && time.wakesAt === Number.POSITIVE_INFINITY;
  }

  #lookAround(): void {
    this.#hasNews = false;
    if (!this.#rest.isReached) return this.#sleepThrough();
    // What was cut off, stands still or is late may still have something to say.
    if (this.#isHealed) this.#isAtRest = true;
    else this.#heal();
  }

  /** Nothing goes wrong any more, and everybody is back. */
  #heal(): void {
    const { fleet, bodies, caller, schedule, world } = this.#stage;
    this.#isHealed = true;
    this.#hasNews = true;
    bodies.isHealed = true;
    caller.isHealed = true;
    this.#misfortune.end();
    this.#pauses.end();
    const places = fleet.places.filter(({ runs }) => runs);
    const areDisturbed = places.some(({ member }) => member?.process.state !== "running");
    fleet.heal(() => false);
    if (schedule.faults > 0 && (areDisturbed || !this.#rest.isReached))
      schedule.line("healed", () => "from here on nothing goes wrong any more");
    if (areDisturbed) this.#hushUntil(world.elapsed + afterwardsMs);
  }

  #hushUntil(time: number): void {
    const { world } = this.#stage;
    this.#restsAfter = time;
    world.after(time - world.elapsed, () => {
      this.#hasNews = true;
    });
  }

  /** Everybody stands still until something is due, so that a month costs no more than a moment. */
  #sleepThrough(): void {
    const { world, fleet, schedule } = this.#stage;
    const until = this.#rest.quietUntil;
    if (until === null) return;
    const members = fleet.places.flatMap(({ member }) => member ?? []);
    const ms = Math.min(until - world.now, restMsMax);
    this.#isAsleep = true;
    this.#breaks++;
    this.#misfortune.end();
    for (const member of members) member.process.freeze();
    schedule.line("asleep", () => `nothing happens for ${lengthText(ms)}`);
    world.after(ms, () => {
      this.#isAsleep = false;
      this.#hasNews = true;
      this.#sleptMs += ms;
      for (const { process } of members) process.thaw();
      if (!this.#isHealed) this.#troubleAgain();
    });
  }

  /** Its time to stand still was over just now. */
  #putToSleep({ process }: Member): void {
    this.#stage.world.after(0, () => {
      if (this.#isAsleep) process.freeze();
    });
  }

  #troubleAgain(): void {
    const { world, choices, weather, fleet } = this.#stage;
    this.#misfortune = new Misfortune({ world, choices, weather, fleet });
    this.#misfortune.start();
  }

  // ---------------------------------------------------------------------------------------------- what is found

  async #lastLook(): Promise<void> {
    await this.#stage.lookAtAll();
    for (const { workflow, status, error } of this.#context().instances)
      this.#stage.sightings.saw(`${workflow}: ${status}${error ? ` (${error.code ?? error.name})` : ""}`);
    await this.#ask({ ...this.#settings.always, ...this.#settings.invariants });
  }

  /** Code of somebody's own: while it is at real work, nothing else happens. */
  async #ask(invariants: Invariants<unknown>): Promise<void> {
    if (this.#finding) return;
    const { works, time } = this.#stage;
    for (const [name, invariant] of Object.entries(invariants)) {
      const worker = time.outside(`Invariant "${name}"`);
      const finding = await works.run(worker, () =>
        firstBroken({ [name]: invariant }, () => this.#context()),
      );
      if (finding) return this.#broke(new Broken(finding));
    }
  }

  #context(): InvariantContext<unknown> {
    const { state, world } = this.#stage;
    const { now } = world;
    return {
      state,
      instances: this.#looks.at(this.#stage.facts(), now),
      now: new Date(now),
      seed: this.#seed,
    };
  }

  #neverEnds(): void {
    const message = unfinishedWords(this.#rest.unfinished, this.#isScenarioOver);
    this.#broke(new Broken({ invariant: everythingEnds, message }));
  }

  #broke(error: unknown): void {
    if (this.#finding || this.#misuse !== null) return;
    if (error instanceof Broken) this.#finding = error.finding;
    else if (error instanceof EverstepError) this.#misuse = error;
    else this.#finding = { invariant: nothingEscapes, message: errorText(error) };
    const finding = this.#finding;
    if (finding) this.#stage.schedule.line("broken", () => `here "${finding.invariant}" does not hold`);
  }
}

/** Of virtual time, for those who stood still. */
const afterwardsMs = 2000;

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
