/** Everything that is there when a simulated world begins: store, processes, the caller, and those who watch. */
import type { App } from "../../../client/app.ts";
import type { Store } from "../../../store/store.ts";
import { createMemoryDatabase } from "../../../stores/memory/database.ts";
import { memory } from "../../../stores/memory/memory-store.ts";
import type { RunFacts } from "../../../verify/run-facts.ts";
import type { Explanation } from "../../../verify/violation.ts";
import { interceptStore, type StoreCall } from "../../intercept-store.ts";
import { BodyRules } from "../body-rules.ts";
import { Choices, type Tape } from "../choices.ts";
import { Fleet, type Member } from "../fleet.ts";
import { Ledger } from "../ledger.ts";
import { Sightings } from "../sightings.ts";
import { Watch } from "../watch.ts";
import type { Fate } from "../weather.ts";
import { World } from "../world.ts";
import { Bodies } from "./bodies.ts";
import { Caller } from "./caller.ts";
import { type BodyFate, drawOwnWeather, isWanted, type OwnWeather } from "./faults.ts";
import { Narrator } from "./narrator.ts";
import type { Settings, SimulatedWorkflows } from "./options.ts";
import { ProcessCode } from "./process-code.ts";
import { Schedule } from "./schedule.ts";
import { TimeAndChance } from "./time-and-chance.ts";
import { Works } from "./works.ts";

export interface StageParts {
  readonly seed: number | string;
  readonly settings: Settings;
  /** What was drawn before, to be drawn again. */
  readonly tape: Tape | null;
  /** Memory unless given. */
  readonly store: Store | null;
  /** Something happened that may bring the world closer to its end; to a process, where one is given. */
  readonly onNews: (member?: Member) => void;
  /** The store took a write. */
  readonly onWrite: () => Promise<void>;
  /** A rule was broken, or something was thrown. */
  readonly onBroken: (error: unknown) => void;
}

export class Stage {
  readonly choices: Choices;
  readonly weather: OwnWeather;
  readonly world: World;
  readonly works: Works;
  readonly time: TimeAndChance;
  readonly schedule: Schedule;
  readonly sightings: Sightings = new Sightings();
  readonly state: unknown;
  readonly narrator: Narrator;
  readonly bodies: Bodies;
  readonly fleet: Fleet;
  readonly app: App;
  readonly caller: Caller;
  /** Something happened that nobody asked for: a tape said so. */
  hasUnwanted = false;
  readonly #parts: StageParts;
  readonly #store: Store;
  readonly #watch: Watch;
  readonly #code: ProcessCode;
  /** What records do not show: hooks of authors may fail, and their code may ask for other steps than before. */
  readonly #explanations = new Set<Explanation>(["died-giving-up", "event-given-back", "code-changed"]);

  constructor(parts: StageParts) {
    const { seed, settings, tape, onBroken } = parts;
    this.#parts = parts;
    this.choices = new Choices(seed, tape);
    this.weather = drawOwnWeather(this.choices, settings.faults, settings.runners);
    this.world = new World(seed);
    this.works = new Works(settings.patienceMs);
    this.time = new TimeAndChance(this.world, this.choices);
    this.schedule = new Schedule(() => this.world.elapsed);
    this.narrator = new Narrator(this.schedule);
    this.#store = this.#openStore();
    this.state = this.works.runNow(this.time.outside("state"), () => settings.state());
    this.#watch = this.#createWatch();
    this.bodies = this.#createBodies();
    const { works, time, bodies, state } = this;
    this.#code = new ProcessCode({ works, time, bodies, state, onBroken, workflowsOf: settings.workflowsOf });
    this.fleet = this.#createFleet();
    this.app = this.#people();
    this.caller = this.#createCaller();
  }

  get workflows(): SimulatedWorkflows {
    return this.#code.workflows;
  }

  /** The last look at every run. */
  facts(): Iterable<RunFacts> {
    return this.#watch.facts.values();
  }

  /** All of them, looked at again. */
  async lookAtAll(): Promise<void> {
    await this.#watch.lookAtAll();
  }

  async close(): Promise<void> {
    await this.fleet.close();
    this.world.close();
  }

  // ---------------------------------------------------------------------------------------------- making it

  /** One that works in real time is waited for, as bodies are. */
  #openStore(): Store {
    const { store } = this.#parts;
    if (!store) return memory({ database: createMemoryDatabase({ ownership: this.weather.ownership }) });
    const worker = this.time.outside("The store");
    return interceptStore(store, (_call, apply) => this.works.run(worker, apply));
  }

  #createWatch(): Watch {
    const { skewMs } = this.weather;
    if (skewMs > 0) this.#explanations.add("clock-set-back");
    const wrongMs = skewMs > 0 ? skewMs + 60_000 : 0;
    return new Watch({
      store: this.#store,
      now: () => this.world.now + wrongMs,
      sightings: new Sightings(),
      explanations: this.#explanations,
    });
  }

  #createBodies(): Bodies {
    const { world, choices, weather, works, time, narrator } = this;
    const { onBroken, onNews } = this.#parts;
    const rules = new BodyRules({ watch: this.#watch, weather, now: () => world.now });
    const ledger: Ledger = new Ledger((entry) => {
      try {
        rules.begins(entry, ledger);
      } catch (error) {
        onBroken(error);
      }
    });
    return new Bodies({
      world,
      choices,
      weather,
      works,
      ledger,
      narrator,
      fleet: () => this.fleet,
      workerIn: (member, what) => time.inside(member, what),
      onFate: (fate) => {
        if (fate !== "undisturbed") this.sightings.saw(`a body: ${fate}`);
        this.#seen(fate);
      },
      onEnd: () => onNews(),
    });
  }

  #createFleet(): Fleet {
    const { world, choices, weather, sightings, narrator } = this;
    return new Fleet({
      world,
      choices,
      weather,
      openStore: () => this.#store,
      workflowsOf: (member) => this.#code.of(member),
      appOptions: { limits: this.#parts.settings.limits },
      onApplied: (member, call, answer) => this.#applied(member, call, answer),
      onFate: (member, fate, call) => {
        narrator.fate(member, fate, call);
        if (fate !== "delivered") sightings.saw(`a call: ${fate}`);
        this.#seen(fate);
      },
      onProblem: () => {},
      onNews: (member, news) => {
        narrator.news(member, news);
        sightings.saw(`a process: ${news.replace(/ (for|to) .*/, "")}`);
        this.#parts.onNews(member);
      },
    });
  }

  /** The processes come up, and the caller's, whose app it gives. */
  #people(): App {
    const { weather, fleet } = this;
    for (let at = 0; at < weather.runners; at++)
      fleet.place(`process ${String.fromCharCode(65 + at)}`, { runs: true });
    const { member } = fleet.place("the caller", { runs: false, isSpared: true });
    return (member as Member).app;
  }

  #createCaller(): Caller {
    const { app, world, choices, weather, schedule, time } = this;
    const onChange = (): void => this.#parts.onNews();
    return new Caller({
      app,
      world,
      choices,
      weather,
      schedule,
      time,
      explanations: this.#explanations,
      onChange,
    });
  }

  #seen(fate: Fate | BodyFate): void {
    this.hasUnwanted ||= !isWanted(fate, this.#parts.settings.faults);
  }

  async #applied(member: Member, call: StoreCall, answer: unknown): Promise<void> {
    const { onNews, onWrite, onBroken } = this.#parts;
    try {
      this.narrator.applied(member, call, answer);
      this.#code.applied(member, call, answer);
      await this.#watch.applied(member, call, answer);
      if (call.method === "write") await onWrite();
    } catch (error) {
      onBroken(error);
    }
    if (call.method !== "nextDueAt") onNews();
  }
}
