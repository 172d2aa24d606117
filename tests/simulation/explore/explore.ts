/**
 * One seed: a world with a few processes on one store, programs nobody wrote, people who meddle, and faults. The shipped
 * engine, runner and client run in it; every promise that can be observed is checked on the way and at the end.
 */
import { defineWorkflow } from "../../../packages/everstep/src/authoring/define-workflow.ts";
import { isTerminal } from "../../../packages/everstep/src/model/instance.ts";
import type { Store } from "../../../packages/everstep/src/store/store.ts";
import { Owners } from "../../../packages/everstep/src/stores/memory/owners.ts";
import { interceptStore, type StoreCall } from "../../../packages/everstep/src/testing/intercept-store.ts";
import { createSeededRandom } from "../../../packages/everstep/src/testing/seeded-random.ts";
import { BodyRules } from "../../../packages/everstep/src/testing/simulate/body-rules.ts";
import { Choices, type Tape } from "../../../packages/everstep/src/testing/simulate/choices.ts";
import { Broken, type Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import { Fleet, type Member, type Workflows } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import {
  type BodyStart,
  type Entry,
  Ledger,
} from "../../../packages/everstep/src/testing/simulate/ledger.ts";
import { type Loss, Misfortune } from "../../../packages/everstep/src/testing/simulate/misfortune.ts";
import { Sightings } from "../../../packages/everstep/src/testing/simulate/sightings.ts";
import { runName, Watch } from "../../../packages/everstep/src/testing/simulate/watch.ts";
import {
  drawWeather,
  isCalm,
  type Weather,
  type WeatherOptions,
} from "../../../packages/everstep/src/testing/simulate/weather.ts";
import { World } from "../../../packages/everstep/src/testing/simulate/world.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import type { Explanation } from "../../../packages/everstep/src/verify/violation.ts";
import { Answers } from "../checks/answers.ts";
import { Checks } from "../checks/checks.ts";
import { lastLook } from "../checks/last-look.ts";
import { inWords, perform, type Result } from "../programs/perform.ts";
import { type Act, drawProgram } from "../programs/program.ts";
import { Trace } from "../trace.ts";
import { type OpenWorldData, openMemoryData } from "../world-data.ts";
import { failingObserver } from "./failing-observer.ts";
import { type Call, type Deed, deeds, type OpenWait, Operator } from "./operator.ts";
import { Pace } from "./pace.ts";
import { expectRecovery } from "./recovery.ts";
import { Rewind } from "./rewind.ts";
import { StaleTurns } from "./stale-turns.ts";
import { withoutStacks } from "./without-stacks.ts";

export interface ExploreOptions extends WeatherOptions {
  /** safety: faults to the end. liveness: they stop, and then everything must come to its end. */
  readonly mode?: "safety" | "liveness";
  /** Moments after which a world counts as one that goes round in circles. */
  readonly momentsMax?: number;
  /** What was drawn before, to be drawn again. */
  readonly tape?: Tape;
  /** Where data is kept; memory unless given. */
  readonly openData?: OpenWorldData;
}

export interface Explored {
  readonly seed: number | string;
  readonly mode: "safety" | "liveness";
  /** The first broken promise. */
  readonly finding: Finding | null;
  readonly weather: Weather;
  readonly tape: () => Tape;
  /** What happened, line by line. */
  readonly trace: () => readonly string[];
  /** The same for the same seed and code. */
  readonly hash: string;
  readonly sightings: ReadonlyMap<string, number>;
  readonly calls: number;
  readonly moments: number;
  readonly elapsedMs: number;
}

const workflowKey = "EXPLORED";
const workflowName = "explored";
const momentsMaxDefault = 400_000;
/** How long a healed world may take. */
const restMsMax = 3 * 60 * 60 * 1000;

export async function explore(seed: number | string, options: ExploreOptions = {}): Promise<Explored> {
  const exploration = new Exploration(seed, options);
  return withoutStacks(() => exploration.run());
}

class Exploration {
  readonly #seed: number | string;
  readonly #mode: "safety" | "liveness";
  readonly #momentsMax: number;
  readonly #choices: Choices;
  readonly #weather: Weather;
  readonly #world: World;
  readonly #trace: Trace;
  readonly #sightings = new Sightings();
  readonly #pace: Pace;
  readonly #checks: Checks;
  readonly #explanations = new Set<Explanation>();
  readonly #rows: ReadonlyMap<string, unknown> | null;
  readonly #programs: readonly Act[];
  readonly #watch: Watch;
  readonly #ledger: Ledger;
  readonly #rules: BodyRules;
  readonly #fleet: Fleet;
  readonly #operator: Operator;
  readonly #misfortune: Misfortune;
  readonly #stale: StaleTurns;
  readonly #answers: Answers;
  readonly #rewind: Rewind;
  readonly #retried = new Set<string>();
  /** What bodies returned: theirs alone. */
  readonly #live = new WeakSet<Result>();
  /** Tellings that arrived. */
  readonly #told = new Set<string>();
  /** Processes that were frozen or cut off at some time. */
  readonly #disturbed = new Set<Member>();
  #isHealed = false;
  #calls = 0;
  #finding: Finding | null = null;

  constructor(seed: number | string, options: ExploreOptions) {
    this.#seed = seed;
    this.#mode = options.mode ?? "safety";
    this.#momentsMax = options.momentsMax ?? momentsMaxDefault;
    const choices = new Choices(seed, options.tape);
    this.#choices = choices;
    const weather = drawWeather(choices, options);
    this.#weather = weather;
    const world = new World(seed);
    this.#world = world;
    this.#trace = new Trace(() => world.elapsed);
    this.#pace = new Pace(() => world.elapsed);
    const { float } = createSeededRandom(`${seed}/store`);
    const data = (options.openData ?? openMemoryData)({ ownership: weather.ownership, float });
    this.#rows = data.rows;
    // Processes are only played, so their deaths are too: a store that looks for real ones would find none.
    const owners = data.owners ?? (weather.ownership ? new Owners() : undefined);
    const openStore = (): Store => (data.owners ? data.openStore() : ownedBy(data.openStore(), owners));
    const count = choices.between("programs", 1, 3);
    this.#programs = Array.from({ length: count }, (_, at) =>
      drawProgram(choices, `program ${at}`, choices.between("program size", 2, 12), {
        rows: data.rows !== null,
      }),
    );
    if (weather.skewMs > 0) this.#explanations.add("clock-set-back");
    if (!isCalm(weather)) this.#explanations.add("died-giving-up");
    const now = (): number => world.now;
    const wrongMs = weather.skewMs > 0 ? weather.skewMs + 60_000 : 0;
    this.#watch = new Watch({
      store: openStore(),
      now: () => world.now + wrongMs,
      sightings: this.#sightings,
      explanations: this.#explanations,
    });
    const answerMsMax = 5 + 2 * weather.latencyMsMax;
    this.#stale = new StaleTurns({ answerMsMax, leaseMs: weather.settings.lease, now });
    const isStale = (entry: Entry): boolean => this.#stale.isStale(entry);
    const isEither = (entry: Entry): boolean => this.#stale.isEither(entry);
    this.#rules = new BodyRules({ watch: this.#watch, weather, isStale, isEither, now });
    this.#ledger = new Ledger((entry) => {
      this.#trace.body(entry);
      this.#guarded(() => this.#rules.begins(entry, this.#ledger));
      this.#found(this.#checks.begins(entry));
    });
    this.#checks = new Checks({
      watch: this.#watch,
      ledger: this.#ledger,
      store: openStore(),
      weather,
      isCalm: isCalm(weather),
      maxCrashes: weather.maxCrashes,
      programOf: (params) => this.#programOf(params),
      workflowName,
      rows: this.#rows,
      retried: this.#retried,
      isStale,
      now,
    });
    // A process that stands still, or whose calls are swallowed, may give up before its time.
    this.#answers = new Answers(weather.mishapEveryMs === 0);
    this.#rewind = new Rewind(
      [data, this.#rules, this.#watch, this.#ledger, this.#checks, this.#answers],
      (writes) => this.#wentBack(writes),
    );
    this.#fleet = new Fleet({
      world,
      choices,
      weather,
      openStore,
      workflowsOf: (member) => this.#workflows(member),
      appOptions: {
        // A store that cannot tell who is dead refuses it.
        ifInterrupted: owners ? weather.ifInterrupted : "retry",
        limits: { maxCrashes: weather.maxCrashes },
        // In half of all worlds: what nobody listens to takes other ways.
        observers: createSeededRandom(`${seed}/observer`).float() < 0.5 ? [] : [failingObserver],
        ...(weather.hooks ? { hooks: { onEnded: (ended) => void this.#told.add(runName(ended)) } } : {}),
      },
      onStopped: (member, lateMs) => this.#stopped(member, lateMs),
      onApplying: (call) => this.#rewind.applying(call),
      onApplied: (member, call, answer) => this.#applied(member, call, answer),
      onAnswered: (member, call, answer) => {
        this.#stale.answered(member, call, answer);
        this.#checks.answered(member, call, answer);
      },
      onFate: (member, fate, call) => {
        this.#calls++;
        const hurry = this.#pace.called(member, call);
        if (hurry) this.#broke(hurry);
        this.#found(this.#checks.called(member, fate, call));
        this.#sightings.saw(`fate: ${fate}`);
        this.#trace.call(member, fate, call);
      },
      onProblem: (member, problem) => this.#trace.problem(member, problem),
      onDeath: ({ owner }) => owners?.kill(owner),
      onNews: (member, news) => {
        this.#sightings.saw(`process ${news.replace(/ [-\d]+ ms/, "")}`);
        this.#trace.news(member, news);
        if (/frozen|cut off/.test(news)) this.#disturbed.add(member);
        this.#found(this.#checks.news(member, news));
      },
    });
    const instancesMax = choices.between("instances", 1, 6);
    this.#operator = new Operator({
      answers: this.#answers,
      onFound: (findings) => this.#found(findings),
      world,
      choices,
      fleet: this.#fleet,
      workflowKey,
      programs: count,
      instancesMax,
      everyMs: Math.round(choices.spread("deed every", 5000, 50)),
      latencyMsMax: weather.latencyMsMax,
      deeds: this.#drawDeeds(),
      waits: () => this.#openWaits(),
      busy: () => this.#busy(),
      onDeed: (deed, id) => this.#deed(deed, id),
      onSurprise: ({ what }, error) =>
        this.#broke({
          invariant: "INV-49",
          message: `${what} was answered with ${inWords(error)}: ${String(error)}`,
        }),
    });
    const loseWrites = (loss: Loss): void => this.#rewind.lose(loss);
    this.#misfortune = new Misfortune({ world, choices, weather, fleet: this.#fleet, loseWrites });
  }

  async run(): Promise<Explored> {
    const { runners } = this.#weather;
    for (let at = 0; at < runners; at++) this.#fleet.place(`runner ${at}`, { runs: true });
    this.#fleet.place("caller", { runs: false });
    this.#operator.start();
    this.#misfortune.start();
    try {
      const storm = this.#storm();
      await this.#world.run(() => this.#isOver(storm));
      if (!this.#finding && this.#mode === "liveness") await this.#comeToRest();
      if (!this.#finding) {
        await lastLook({
          watch: this.#watch,
          ledger: this.#ledger,
          programOf: (params) => this.#programOf(params),
          rows: this.#rows,
          isCalm: isCalm(this.#weather) && this.#weather.settings.lease > 20 * this.#weather.latencyMsMax,
          retried: this.#retried,
          workflowName,
          told: this.#weather.hooks && this.#mode === "liveness" ? this.#told : null,
        });
        this.#found(this.#checks.end());
      }
    } catch (error) {
      this.#broke(findingOf(error));
    }
    await this.#fleet.close();
    this.#world.close();
    return {
      seed: this.#seed,
      mode: this.#mode,
      finding: this.#finding,
      weather: this.#weather,
      tape: () => this.#choices.tape,
      trace: () => this.#trace.lines,
      hash: this.#trace.hash,
      sightings: this.#sightings.counts,
      calls: this.#calls,
      moments: this.#world.moments,
      elapsedMs: this.#world.elapsed,
    };
  }

  /** How long people meddle and things go wrong. */
  #storm(): number {
    return this.#choices.pick("storm", [20_000, 2000, 5000, 10_000, 60_000]);
  }

  #isOver(until: number): boolean {
    if (this.#world.moments > this.#momentsMax) {
      this.#broke({ invariant: "INV-50", message: `more than ${this.#momentsMax} moments` });
    }
    return this.#finding !== null || this.#world.elapsed >= until;
  }

  async #comeToRest(): Promise<void> {
    this.#misfortune.end();
    this.#rewind.end();
    this.#operator.end();
    const places = this.#fleet.places.filter(({ runs }) => runs);
    const survivor = this.#choices.pick("survivor", places);
    this.#isHealed = true;
    const isRough = !isCalm(this.#weather);
    this.#fleet.heal(
      (place) => isRough && place.runs && place !== survivor && this.#choices.chance("stays dead", 0.3),
    );
    // Somebody must know what to do.
    for (const { member } of this.#fleet.places)
      if (member && !member.app.workflows[workflowKey]) this.#fleet.kill(member);
    this.#trace.line("the world is healed");
    this.#checks.healed();
    const parts = { world: this.#world, watch: this.#watch, weather: this.#weather };
    expectRecovery(parts, (finding) => this.#broke(finding));
    let isResumed = false;
    const healedAt = this.#world.elapsed;
    // Whoever still waits for an answer may yet pause something, and so may what is late.
    const resume = (): void => {
      if (this.#unanswered.length > 0) return void this.#world.after(1000, resume);
      this.#operator.resumeAll().then(() => {
        isResumed = true;
      });
    };
    this.#world.after(4 * this.#weather.settings.lease, resume);
    const isAtRest = (): boolean => isResumed && this.#unanswered.length === 0 && this.#allEnded();
    const deadline = healedAt + restMsMax;
    await this.#world.run(() => this.#isOver(deadline) || isAtRest());
    if (this.#finding || isAtRest()) return;
    this.#broke({ invariant: "LIV-1", message: this.#whatIsLeft() });
  }

  #allEnded(): boolean {
    for (const { record, isCurrent } of this.#watch.facts.values())
      if (isCurrent && !isTerminal(record.status)) return false;
    return true;
  }

  #whatIsLeft(): string {
    const left = [...this.#watch.facts]
      .filter(([, { record, isCurrent }]) => isCurrent && !isTerminal(record.status))
      .map(([name, { record }]) => `${name} is ${record.status}, due at ${record.dueAt}`);
    const open = this.#unanswered.map(({ what, since }) => `"${what}" was never answered since ${since}`);
    return `long after everything was healed: ${[...left, ...open].join("; ")}`;
  }

  /** Calls of the living: the dead wait for nothing. */
  get #unanswered(): readonly Call[] {
    return [...this.#operator.open].filter(({ member }) => member.process.state !== "dead");
  }

  // ---------------------------------------------------------------------------------------------- what runs in it

  #workflows(member: Member): Workflows {
    const { deploys, cap } = this.#weather;
    if (deploys && !this.#isHealed && this.#choices.chance("without the code", 0.3)) return { OTHER: other };
    const capped = cap === null ? {} : { concurrency: cap };
    const explored = defineWorkflow({ name: workflowName, ...capped }, async (event, step) => {
      const stage = {
        begin: (start: BodyStart) => this.#ledger.begin(member, start),
        returned: (result: Result) => {
          this.#live.add(result);
          return result;
        },
        received: (name: string, result: Result) => this.#received(name, result),
        pause: (ms: number) =>
          new Promise<void>((resolve) => {
            member.process.runtime.timer(resolve, ms);
          }),
      };
      try {
        return await perform(this.#programOf(event.payload), "0", "", { event, step, stage });
      } catch (error) {
        throw new Error(inWords(error));
      }
    });
    return { [workflowKey]: explored };
  }

  /** INV-16: a copy, alike in everything, of what the body returned. */
  #received(name: string, result: Result): void {
    if (this.#live.has(result))
      this.#broke({ invariant: "INV-16", message: `"${name}" was given the body's own object` });
    const isAlike = result.when instanceof Date && "nothing" in result && result.nothing === undefined;
    if (!isAlike)
      this.#broke({ invariant: "INV-16", message: `"${name}" was given ${JSON.stringify(result)}` });
  }

  #programOf(params: unknown): Act {
    return (typeof params === "number" ? this.#programs[params] : undefined) ?? nothing;
  }

  #busy(): readonly string[] {
    const current = [...this.#watch.facts.values()].filter(
      ({ record, isCurrent }) =>
        isCurrent && record.workflowName === workflowName && record.status === "active",
    );
    const hasWait = ({ steps }: RunFacts): boolean => steps.some(({ status }) => status === "waiting");
    return current.filter(hasWait).map(({ record }) => record.instanceId);
  }

  #openWaits(): readonly OpenWait[] {
    return [...this.#watch.facts.values()].flatMap(({ record, isCurrent, steps }) => {
      if (!isCurrent || record.workflowName !== workflowName || isTerminal(record.status)) return [];
      return steps.flatMap(({ status, eventType, wakeAt }) => {
        if (status !== "waiting" || eventType === null || wakeAt === null) return [];
        return [{ id: record.instanceId, type: eventType, leftMs: wakeAt - this.#world.now }];
      });
    });
  }

  #drawDeeds(): ReadonlySet<Deed> {
    const isOn = (deed: Deed): boolean =>
      always.includes(deed) || this.#choices.chance(`deeds: ${deed}`, 0.5);
    return new Set(deeds.filter(isOn));
  }

  #deed(deed: Deed, id: string): void {
    this.#sightings.saw(`deed: ${deed}`);
    this.#trace.line(`${deed} ${id}`);
    if (deed === "skip") this.#explanations.add("sleep-skipped");
    if (deed !== "retry") return;
    this.#explanations.add("event-given-back");
    this.#retried.add(id);
    this.#checks.retried(id);
    for (const [name, { record }] of this.#watch.facts)
      if (record.instanceId === id) this.#rules.forget(name);
  }

  // ---------------------------------------------------------------------------------------------- what is found

  /** LIV-6. One that was frozen or cut off meanwhile has its reason. */
  #stopped(member: Member, lateMs: number): void {
    if (lateMs <= stopMsMax || this.#disturbed.has(member)) return;
    this.#broke({
      invariant: "LIV-6",
      message: `process ${member.number} stopped ${lateMs} ms after its grace`,
    });
  }

  async #applied(member: Member, call: StoreCall, answer: unknown): Promise<void> {
    this.#trace.applied(member, call, answer);
    try {
      await this.#watch.applied(member, call, answer);
      this.#found(await this.#checks.applied(member, call, answer));
      this.#stale.applied(member, call, answer);
      this.#answers.applied(call, answer);
      this.#rewind.applied(call, answer);
    } catch (error) {
      this.#broke(findingOf(error));
    }
  }

  #wentBack(writes: number): void {
    this.#sightings.saw("writes lost");
    this.#trace.line(`the store lost its last ${writes} writes`);
    this.#stale.wentBack();
    this.#checks.wentBack(this.#fleet.members);
  }

  #found([first]: readonly Finding[]): void {
    if (first) this.#broke(first);
  }

  #guarded(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#broke(findingOf(error));
    }
  }

  #broke(finding: Finding): void {
    if (this.#finding) return;
    this.#finding = finding;
    this.#trace.line(`BROKEN ${finding.invariant}: ${finding.message}`);
  }
}

const other = defineWorkflow({ name: "other" }, async () => {});
/** Beyond the grace a stop waits for the store and for what is being written. */
const stopMsMax = 20_000;
/** For instances that nobody drew a program for. */
const nothing: Act = { kind: "sleep", ms: 1 };
const always: readonly Deed[] = ["create", "send", "send in time"];

function findingOf(error: unknown): Finding {
  if (error instanceof Broken) return error.finding;
  return {
    invariant: "INV-49",
    message: `something threw where nobody could catch it: ${String((error as Error)?.stack ?? error)}`,
  };
}

function ownedBy(store: Store, owners: Owners | undefined): Store {
  const { ownership: _real, ...others } = interceptStore(store, (_call, apply) => apply());
  return owners ? { ...others, ownership: owners } : others;
}
