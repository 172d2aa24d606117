/**
 * Tests workflows on the shipped code, with a clock in the test's hands. Nothing runs and no time passes until the test
 * says so.
 *
 *   const harness = createTestHarness({ workflows: { ORDER: order } });
 *   const instance = await harness.workflows.ORDER.create({ id: "order-1", params });
 *   await harness.runUntilIdle();                        // everything that is due now
 *   expect(await harness.steps("order-1")).toEqual(["charge completed", "cool-off waiting"]);
 *   await harness.advance("1 hour");                     // moves the clock; each wake at its own time
 *   await harness.sendEvent("order-1", { type: "approved" });
 *   await harness.runUntilIdle();
 *   expect(await harness.status("order-1")).toEqual({ status: "complete", output: ... });
 *
 * The rule of waiting: `tick`, `runUntilIdle`, `advance`, `settle` and `gate.open` return when every turn has ended or
 * waits - for the clock (sleeps, retries, attempt timeouts, nested sleeps), for an event, at a gate, at a stop, or for
 * real work (a real timer, fetch, a file) that takes longer than `patience`, one second of real time unless said. A
 * body that the test wants to hold waits at a gate, which costs no time:
 *
 *   const gate = createGate();                           // step.do("charge", async () => { await gate.wait(); ... })
 *   await harness.tick();                                // returns with the body held
 *   await gate.open();                                   // the turn goes on
 *
 * Only the clock, without anybody ticking: `harness.clock.advance("2 minutes")`. Timers fire (lease renewals, attempt
 * timeouts), but what becomes due stays due.
 *
 * Several runners over one database, crashes and races (more in harness-runner.ts and faulty-store.ts):
 *
 *   const a = harness.runner("a");                       // a process of its own; harness.tick() is harness.runner("main")
 *   await a.tick();
 *   a.kill();                                            // gone without any cleanup; its leases run out with the time
 *   await harness.restartRunner("a");                    // a new process: nothing in memory, replay from history
 *   const stop = a.stopBefore("commit"); await a.tick(); // frozen with the commit not yet applied; stopAfter: applied
 *   await harness.clock.advance("2 minutes"); await harness.tick();
 *   expect(await stop.continue()).toBe("superseded");
 *   a.faults.fail("commit", "ambiguous", { applied: true });
 *
 * Mocks: prepare, mock, start. They hold for every runner and every run, for a workflow or for one instance:
 *
 *   harness.mock("ORDER").step("charge").throws(new Error("down"), { times: 2 }).returns({ id: 7 });
 *   harness.mock("ORDER", "order-1").step("charge").timesOut({ times: 1 });
 *   harness.mock("ORDER").event("approved").arrives({ payload: { by: "ann" } });   // or .timesOut()
 *   harness.mock("ORDER").disableSleeps().disableRetryDelays();
 */
/// <reference lib="esnext.disposable" />
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { type Duration, parseDuration } from "../authoring/duration.ts";
import type { OutgoingEvent } from "../authoring/workflow-step.ts";
import type { App } from "../client/app.ts";
import type { AppOptions } from "../client/app-options.ts";
import { createWorkflows } from "../client/create-workflows.ts";
import type { InstanceHandle } from "../handles/instance-handle.ts";
import type { InstanceStatusView } from "../handles/views.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import type { TickOptions } from "../runner/ticks.ts";
import type { Ownership, Store } from "../store/store.ts";
import { createMemoryDatabase } from "../stores/memory/database.ts";
import { memory } from "../stores/memory/memory-store.ts";
import type { LogLineView } from "../wire/index.ts";
import { BodyWatch, waiting } from "./body-watch.ts";
import { createFakeRuntime, type FakeRuntime, type WaitUntilOptions } from "./fake-runtime.ts";
import { createGate, type Gate } from "./gate.ts";
import { HarnessRunner } from "./harness-runner.ts";
import { Inspector, type InstanceAddress, type RunChoice, type WholeHistory } from "./inspector.ts";
import { interceptStore } from "./intercept-store.ts";
import { liveHandles } from "./live-handles.ts";
import { MockBook, type WorkflowMocks } from "./mocks.ts";

export interface TestHarnessOptions<Workflows extends Record<string, WorkflowDefinition>>
  extends Pick<
    AppOptions<Workflows>,
    "workflows" | "limits" | "runner" | "ifInterrupted" | "hooks" | "observers" | "onNotice" | "onProblem"
  > {
  /**
   * Where the data is kept; memory unless said. A function is called for every runner and gives it a handle of its own
   * on the same data; a store is shared by all of them.
   */
  readonly store?: Store | (() => Store);
  /** What the clock says at first; default 2026-01-01T00:00:00Z. */
  readonly now?: Date | number;
  /** The same seed gives the same ids, jitter and other randomness. */
  readonly seed?: number | string;
  /** Runners take up due instances by themselves, as in production; otherwise nothing runs until the test ticks. */
  readonly autoRun?: boolean;
  /** Real time that is given to real work in step bodies; default 1 second. */
  readonly patience?: Duration;
}

const optionNames: NamesOf<TestHarnessOptions<never>> = {
  workflows: true,
  limits: true,
  runner: true,
  ifInterrupted: true,
  hooks: true,
  observers: true,
  onNotice: true,
  onProblem: true,
  store: true,
  now: true,
  seed: true,
  autoRun: true,
  patience: true,
};

export interface TestClock {
  now(): Date;
  /** Moves time; timers fire, but no runner ticks unless it runs by itself. */
  advance(duration: Duration): Promise<void>;
  advanceTo(time: Date | number): Promise<void>;
  /** For code under test: waits on this clock. */
  sleep(duration: Duration): Promise<void>;
}

export interface AdvanceOptions {
  /** Who takes the turns that become due; default the main runner. */
  readonly runners?: readonly string[];
}

export interface RunUntilIdleOptions {
  /** Ticks after which it is given up; default 1000. */
  readonly maxTicks?: number;
  readonly runners?: readonly string[];
}

const mainRunner = "main";
const maxTicksDefault = 1000;

export function createTestHarness<const Workflows extends Record<string, WorkflowDefinition>>(
  options: TestHarnessOptions<Workflows>,
): TestHarness<Workflows> {
  return new TestHarness(options);
}

export class TestHarness<
  Workflows extends Record<string, WorkflowDefinition> = Record<string, WorkflowDefinition>,
> {
  /** Handles as the app has them; they stay good when the main runner is restarted. */
  readonly workflows: App<Workflows>["workflows"];
  readonly clock: TestClock;
  readonly runtime: FakeRuntime;
  /** What the runners said of failed attempts and runs, unless `onNotice` was given. */
  readonly notices: string[] = [];
  /** What the runners reported as nobody's result, unless `onProblem` was given. */
  readonly problems: unknown[] = [];
  readonly #options: TestHarnessOptions<Workflows>;
  readonly #bodies: BodyWatch;
  readonly #mocks = new MockBook();
  readonly #openStore: () => Store;
  readonly #opened: Store[] = [];
  readonly #runners = new Map<string, HarnessRunner<Workflows>>();
  readonly #gone: HarnessRunner<Workflows>[] = [];
  readonly #inspector: Inspector<Workflows>;

  constructor(options: TestHarnessOptions<Workflows>) {
    checkNames(options, optionNames, "createTestHarness");
    this.#options = options;
    this.#bodies = new BodyWatch(parseDuration(options.patience ?? "1 second", "patience"));
    const { now, seed } = options;
    this.runtime = createFakeRuntime({
      ...(now === undefined ? {} : { now }),
      ...(seed === undefined ? {} : { seed }),
      isBusy: () => this.#bodies.isBusy(),
    });
    this.#openStore = storeOpener(options.store);
    const observer = createWorkflows({
      workflows: options.workflows,
      ...(options.limits ? { limits: options.limits } : {}),
      store: this.#open(),
      runtime: this.runtime,
      // A test sees everything.
      showSensitive: () => true,
    });
    this.#inspector = new Inspector(options.workflows, observer);
    this.clock = this.#createClock();
    this.runner(mainRunner);
    this.workflows = liveHandles(options.workflows, () => this.#front) as App<Workflows>["workflows"];
  }

  /** The main runner's app, for what is not on the harness: publish, counts, prune, ... */
  get app(): App<Workflows> {
    return this.#front;
  }

  // ---------------------------------------------------------------------------------------------- running

  /** One sweep of the main runner; see `HarnessRunner.tick`. */
  async tick(options?: TickOptions): Promise<number> {
    return this.runner().tick(options);
  }

  /** Ticks until nothing is due now; gives the number of turns taken. */
  async runUntilIdle(options: RunUntilIdleOptions = {}): Promise<number> {
    const { maxTicks = maxTicksDefault, runners = [mainRunner] } = options;
    let turns = 0;
    for (let tick = 1; tick <= maxTicks; tick++) {
      let taken = 0;
      for (const name of runners) taken += await this.runner(name).tick();
      if (taken === 0) return turns;
      turns += taken;
    }
    const due = await this.#inspector.due(this.runtime.now());
    throw new Error(
      `There is still something due after ${maxTicks} ticks: ${due.join(", ") || "new instances"}. ` +
        "A workflow that never waits runs for ever; give it a sleep, or pass maxTicks.",
    );
  }

  /** Moves the clock and takes every turn that becomes due on the way, each at its own time. */
  async advance(duration: Duration, options: AdvanceOptions = {}): Promise<void> {
    const target = this.runtime.now() + parseDuration(duration, "duration to advance by");
    await this.#advanceTo(target, options);
  }

  async advanceTo(time: Date | number, options: AdvanceOptions = {}): Promise<void> {
    await this.#advanceTo(Number(time), options);
  }

  /** Resolves when every turn has ended or waits. */
  async settle(): Promise<void> {
    await this.runtime.settle();
  }

  /** Settles again and again, in real time, until the condition holds: for work the harness cannot see. */
  async waitUntil(condition: () => unknown, options?: WaitUntilOptions): Promise<void> {
    await this.runtime.waitUntil(condition, options);
  }

  /** Holds author code until the test lets it pass; the same as `createGate`, which needs no harness. */
  gate(): Gate {
    return createGate();
  }

  async #advanceTo(target: number, { runners = [mainRunner] }: AdvanceOptions): Promise<void> {
    const { runtime } = this;
    const isForward = target >= runtime.now();
    if (this.#options.autoRun || !isForward) return runtime.advanceTo(target);
    await this.runUntilIdle({ runners });
    while (runtime.now() < target) {
      const timerAt = runtime.nextTimerAt() ?? target;
      const dueAt = (await this.#inspector.nextDueAfter(runtime.now())) ?? target;
      await runtime.advanceTo(Math.max(runtime.now(), Math.min(timerAt, dueAt, target)));
      await this.runUntilIdle({ runners });
    }
  }

  // ---------------------------------------------------------------------------------------------- runners

  /** A runner by name, made when first asked for. */
  runner(name: string = mainRunner): HarnessRunner<Workflows> {
    const known = this.#runners.get(name);
    if (known) return known;
    const { workflows, limits, runner, ifInterrupted, hooks, autoRun } = this.#options;
    const { observers, onNotice, onProblem } = this.#options;
    const app = {
      workflows,
      ...(limits ? { limits } : {}),
      ...(runner ? { runner } : {}),
      ...(ifInterrupted ? { ifInterrupted } : {}),
      ...(hooks ? { hooks } : {}),
      ...(observers ? { observers } : {}),
      onNotice: onNotice ?? ((notice: string) => void this.notices.push(notice)),
      onProblem: onProblem ?? ((problem: unknown) => void this.problems.push(problem)),
    };
    const created = new HarnessRunner<Workflows>({
      name,
      runtime: this.runtime,
      mocks: this.#mocks,
      bodies: this.#bodies,
      store: this.#open(),
      app,
    });
    this.#runners.set(name, created);
    if (autoRun) created.start().catch(app.onProblem);
    return created;
  }

  /** Kills the runner and puts a new process in its place, which knows nothing but what the store has. */
  async restartRunner(name: string = mainRunner): Promise<HarnessRunner<Workflows>> {
    const old = this.#runners.get(name);
    if (old) {
      old.kill();
      this.#gone.push(old);
      this.#runners.delete(name);
    }
    const created = this.runner(name);
    await this.settle();
    return created;
  }

  get #front(): App<Workflows> {
    const main = this.#runners.get(mainRunner);
    return main && main.state !== "dead" ? main.app : this.#inspector.app;
  }

  // ---------------------------------------------------------------------------------------------- looking

  async status(address: InstanceAddress): Promise<InstanceStatusView> {
    return (await this.#inspector.instance(address)).status();
  }

  /** All steps and events of a run, the current one unless another is named. */
  async history(address: InstanceAddress, run: RunChoice = {}): Promise<WholeHistory> {
    return this.#inspector.history(address, run);
  }

  /** The steps of a run in words, in the order they began: ["charge completed", "cool-off waiting"]. */
  async steps(address: InstanceAddress, run: RunChoice = {}): Promise<string[]> {
    return this.#inspector.steps(address, run);
  }

  /** All log lines of a run. */
  async logs(address: InstanceAddress, run: RunChoice = {}): Promise<LogLineView[]> {
    return this.#inspector.logs(address, run);
  }

  // ---------------------------------------------------------------------------------------------- acting

  /** Sends an event as the app would. Its turn comes with the next tick. */
  async sendEvent(address: InstanceAddress, event: OutgoingEvent): Promise<void> {
    const { key, id } = await this.#inspector.find(address);
    const instance: InstanceHandle = await this.#front.workflows[key].get(id);
    await instance.sendEvent(event);
  }

  /** Mocks of a workflow, by its key in `workflows` or its name, or of one of its instances. */
  mock(workflow: (keyof Workflows & string) | (string & {}), instanceId?: string): WorkflowMocks {
    return this.#mocks.edit(this.#inspector.definition(workflow).name, instanceId ?? null);
  }

  /** Ends everything without ceremony and closes the stores. Mocks that nothing has met are problems. */
  async stop(): Promise<void> {
    for (const runner of [...this.#runners.values(), ...this.#gone]) await runner.dispose();
    for (const store of new Set(this.#opened)) await store.close();
    this.#opened.length = 0;
    const report = this.#options.onProblem ?? ((problem: unknown) => void this.problems.push(problem));
    for (const words of this.#mocks.end()) report(new Error(words));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  // ---------------------------------------------------------------------------------------------- making

  /** A handle whose calls `settle` waits for; closing is left to the harness. */
  #open(): Store {
    const store = this.#openStore();
    this.#opened.push(store);
    const opened = interceptStore(store, (call, apply) =>
      call.method === "close" ? Promise.resolve() : this.runtime.track(apply()),
    );
    const { ownership } = store;
    return ownership ? { ...opened, ownership: trackedOwnership(ownership, this.runtime) } : opened;
  }

  #createClock(): TestClock {
    const { runtime } = this;
    return {
      now: () => new Date(runtime.now()),
      advance: runtime.advance,
      advanceTo: runtime.advanceTo,
      sleep: (duration) => {
        const ms = parseDuration(duration, "duration to sleep");
        return waiting(new Promise((resolve) => runtime.timer(resolve, ms)));
      },
    };
  }
}

function storeOpener(store: Store | (() => Store) | undefined): () => Store {
  if (typeof store === "function") return store;
  if (store) return () => store;
  const database = createMemoryDatabase();
  return () => memory({ database });
}

/** Asking who lives takes a while in the world outside: the same, and `settle` waits for the answers. */
function trackedOwnership(ownership: Ownership, runtime: FakeRuntime): Ownership {
  return {
    async hold(owner) {
      const held = await runtime.track(ownership.hold(owner));
      return { release: () => runtime.track(held.release()) };
    },
    findDead: () => runtime.track(ownership.findDead()),
    bury: (owner) => runtime.track(ownership.bury(owner)),
  };
}
