/**
 * A world in which nothing is left to chance: given programs, a few processes on one store, and faults exactly where
 * somebody planned them. The checks of an explored world are made here too, after every call and at the end.
 */
import type { WorkflowDefinition } from "../../../packages/everstep/src/authoring/define-workflow.ts";
import type { WorkflowEvent, WorkflowStep } from "../../../packages/everstep/src/authoring/workflow-step.ts";
import { isTerminal } from "../../../packages/everstep/src/model/instance.ts";
import { defaultLimits, runnerDefaults } from "../../../packages/everstep/src/model/limits.ts";
import type { StoreCall } from "../../../packages/everstep/src/testing/intercept-store.ts";
import { BodyRules } from "../../../packages/everstep/src/testing/simulate/body-rules.ts";
import { Choices } from "../../../packages/everstep/src/testing/simulate/choices.ts";
import { Broken, type Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import { Fleet, type Member, type Workflows } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import { Ledger } from "../../../packages/everstep/src/testing/simulate/ledger.ts";
import { Sightings } from "../../../packages/everstep/src/testing/simulate/sightings.ts";
import { Watch } from "../../../packages/everstep/src/testing/simulate/watch.ts";
import { stillWeather, type Weather } from "../../../packages/everstep/src/testing/simulate/weather.ts";
import { World } from "../../../packages/everstep/src/testing/simulate/world.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import type { Explanation } from "../../../packages/everstep/src/verify/violation.ts";
import { Checks } from "../checks/checks.ts";
import { account } from "../checks/last-look.ts";
import { Trace } from "../trace.ts";
import type { SmallData } from "./small-data.ts";
import { watchedStep } from "./watched-step.ts";

/** What a body has beside its step: time in the process it runs in, other services, and rows of the author's own. */
export interface Site {
  /** The name of the place its process runs at. */
  readonly place: string;
  pause(ms: number): Promise<void>;
  /** What other services know; no crash reaches it. */
  readonly outside: Map<string, unknown>;
  insertRow(tx: unknown, key: string): void;
}

export interface SmallWorldParts {
  readonly data: SmallData;
  /** The code of every process; bodies are watched by themselves. */
  readonly workflows: (site: Site) => Workflows;
  readonly settings?: Partial<Weather["settings"]>;
  /** A process that comes back has the name it had. */
  readonly sameOwner?: boolean;
  /** Nothing at all goes wrong in it. */
  readonly isCalm?: boolean;
  /** Processes tell each other of what they wrote. */
  readonly nudges?: boolean;
  /** Told of every process before its first call, which it may plan. */
  readonly onStarted?: (member: Member) => void;
}

/** Short, so that little happens while nothing does; and long against the way to the store. */
export const smallSettings: Weather["settings"] = {
  concurrency: 10,
  maxResidents: 10,
  lease: 3000,
  minPoll: 1000,
  poll: 1000,
  maxPoll: 1000,
  maxMemoryBytes: runnerDefaults.maxMemoryBytes,
};

export class SmallWorld {
  readonly world: World = new World("small");
  readonly settings: Weather["settings"];
  readonly trace: Trace = new Trace(() => this.world.elapsed);
  readonly ledger: Ledger;
  readonly watch: Watch;
  readonly fleet: Fleet;
  /** What happened that records do not show. */
  readonly explanations: Set<Explanation> = new Set();
  /** Instances of which somebody had a failed step tried again. */
  readonly retried: Set<string> = new Set();
  readonly outside: Map<string, unknown> = new Map();
  /** The first broken promise. */
  finding: Finding | null = null;
  readonly #parts: SmallWorldParts;
  readonly #rules: BodyRules;
  readonly #checks: Checks;

  constructor(parts: SmallWorldParts) {
    this.#parts = parts;
    this.settings = { ...smallSettings, ...parts.settings };
    const { world, settings } = this;
    const { sameOwner = false, nudges = false } = parts;
    // No fault but those that are planned.
    const weather: Weather = { ...stillWeather, settings, sameOwner, nudges };
    const now = (): number => world.now;
    this.watch = new Watch({
      store: parts.data.openStore(),
      now,
      sightings: new Sightings(),
      explanations: this.explanations,
    });
    this.#rules = new BodyRules({ watch: this.watch, weather, now });
    this.ledger = new Ledger((entry) => {
      this.trace.body(entry);
      this.#guarded(() => this.#rules.begins(entry, this.ledger));
      this.#found(this.#checks.begins(entry));
    });
    this.#checks = new Checks({
      watch: this.watch,
      ledger: this.ledger,
      store: parts.data.openStore(),
      weather,
      isCalm: parts.isCalm ?? false,
      maxCrashes: defaultLimits.maxCrashes,
      // Its programs are nobody's drawing.
      programOf: () => ({ kind: "log" }),
      workflowName: "",
      rows: null,
      retried: this.retried,
      now,
    });
    this.fleet = new Fleet({
      world,
      // Of every choice the simplest.
      choices: new Choices("small", {}),
      weather,
      openStore: parts.data.openStore,
      workflowsOf: (member) => this.#workflows(member),
      onApplied: (member, call, answer) => this.#applied(member, call, answer),
      onProblem: (member, problem) => this.trace.problem(member, problem),
      onNews: (member, news) => {
        this.trace.news(member, news);
        this.#found(this.#checks.news(member, news));
        if (news === "started") parts.onStarted?.(member);
      },
    });
  }

  /** Goes on until it is over, a promise is broken or the time is up. */
  async run(isOver: () => boolean, withinMs: number): Promise<void> {
    const { world } = this;
    let isTimeUp = false;
    const alarm = world.after(withinMs, () => {
      isTimeUp = true;
    });
    try {
      await world.run(() => this.finding !== null || isTimeUp || isOver());
    } catch (error) {
      this.broke(findingOf(error));
    }
    alarm.cancel();
  }

  /** A step of this instance was given another chance: what follows it may see something else now. */
  retry(instanceId: string): void {
    this.explanations.add("event-given-back");
    this.retried.add(instanceId);
    this.#checks.retried(instanceId);
    for (const [name, { record }] of this.watch.facts)
      if (record.instanceId === instanceId) this.#rules.forget(name);
  }

  /** A call of this process does not go as it should: it may hold what it does not know of. */
  disturb(member: Member, call: StoreCall): void {
    this.#found(this.#checks.called(member, "reply lost", call));
  }

  get unfinished(): readonly RunFacts[] {
    return [...this.watch.facts.values()].filter(
      ({ record, isCurrent }) => isCurrent && !isTerminal(record.status),
    );
  }

  /** Every run there ever was, each event, row and body of it accounted for. */
  async lastLook({ isCalm }: { readonly isCalm: boolean }): Promise<readonly RunFacts[]> {
    const { watch, ledger, retried } = this;
    try {
      const all = await watch.lookAtAll();
      const rows = new Map([...this.#parts.data.rows()].map((key) => [key, true]));
      for (const facts of all)
        for (const finding of account(facts, { watch, ledger, rows, isCalm, retried })) this.broke(finding);
      return all;
    } catch (error) {
      this.broke(findingOf(error));
      return [];
    }
  }

  broke(finding: Finding): void {
    if (this.finding) return;
    this.finding = finding;
    this.trace.line(`BROKEN ${finding.invariant}: ${finding.message}`);
  }

  async close(): Promise<void> {
    await this.fleet.close();
    this.world.close();
  }

  #workflows(member: Member): Workflows {
    const site: Site = {
      place: member.place.name,
      pause: (ms) =>
        new Promise((resolve) => {
          member.process.runtime.timer(resolve, ms);
        }),
      outside: this.outside,
      insertRow: this.#parts.data.insertRow,
    };
    const watched = (definition: WorkflowDefinition): WorkflowDefinition => ({
      ...definition,
      run: (event: WorkflowEvent, step: WorkflowStep) =>
        definition.run(event, watchedStep(step, event, member, this.ledger)),
    });
    const entries = Object.entries(this.#parts.workflows(site));
    return Object.fromEntries(entries.map(([key, definition]) => [key, watched(definition)]));
  }

  async #applied(member: Member, call: StoreCall, answer: unknown): Promise<void> {
    this.trace.applied(member, call, answer);
    try {
      await this.watch.applied(member, call, answer);
      this.#found(await this.#checks.applied(member, call, answer));
    } catch (error) {
      this.broke(findingOf(error));
    }
  }

  #found(findings: readonly Finding[]): void {
    const [first] = findings;
    if (first) this.broke(first);
  }

  #guarded(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.broke(findingOf(error));
    }
  }
}

function findingOf(error: unknown): Finding {
  if (error instanceof Broken) return error.finding;
  return {
    invariant: "INV-49",
    message: `something threw where nobody could catch it: ${String((error as Error)?.stack ?? error)}`,
  };
}
