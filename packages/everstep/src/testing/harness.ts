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
import type { WorkflowDefinition, WorkflowMode } from "../authoring/define-workflow.ts";
import { type Duration, parseDuration } from "../authoring/duration.ts";
import type { OutgoingEvent } from "../authoring/workflow-step.ts";
import { type App, type AppOptions, createWorkflows } from "../client/create-workflows.ts";
import type { HistoryView, InstanceHandle } from "../client/instance-handle.ts";
import type { InstanceStatusView, LogLineView, StepView } from "../client/views.ts";
import { EverstepError } from "../model/error.ts";
import { isTerminal } from "../model/instance.ts";
import type { TickOptions } from "../runner/runner.ts";
import type { Store } from "../store/store.ts";
import { createMemoryDatabase } from "../stores/memory/database.ts";
import { memory } from "../stores/memory/memory-store.ts";
import { BodyWatch, waiting } from "./body-watch.ts";
import { createFakeRuntime, type FakeRuntime, type WaitUntilOptions } from "./fake-runtime.ts";
import { createGate, type Gate } from "./gate.ts";
import { HarnessRunner } from "./harness-runner.ts";
import { interceptStore } from "./intercept-store.ts";
import { liveHandles, workflowKeyOf } from "./live-handles.ts";
import { MockBook, type WorkflowMocks } from "./mocks.ts";

export interface TestHarnessOptions<Workflows extends Record<string, WorkflowDefinition>>
  extends Pick<AppOptions<Workflows>, "workflows" | "limits" | "runner" | "onInterrupted" | "onProblem"> {
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

/** An instance: its id, where that is enough to find it, or its handle. */
export type InstanceAddress = string | InstanceHandle | { readonly workflow: string; readonly id: string };

export interface RunChoice {
  readonly runNumber?: number;
}

export type WholeHistory = Pick<HistoryView, "runNumber" | "steps" | "events">;

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
  /** What the runners reported as nobody's result, unless `onProblem` was given. */
  readonly problems: unknown[] = [];
  readonly #options: TestHarnessOptions<Workflows>;
  readonly #bodies: BodyWatch;
  readonly #mocks = new MockBook();
  readonly #openStore: () => Store;
  readonly #opened: Store[] = [];
  readonly #runners = new Map<string, HarnessRunner<Workflows>>();
  readonly #gone: HarnessRunner<Workflows>[] = [];
  /** An app that only looks, so that looking works whatever happens to the runners. */
  readonly #observer: App<Workflows>;

  constructor(options: TestHarnessOptions<Workflows>) {
    this.#options = options;
    this.#bodies = new BodyWatch(parseDuration(options.patience ?? "1 second", "patience"));
    const { now, seed } = options;
    this.runtime = createFakeRuntime({
      ...(now === undefined ? {} : { now }),
      ...(seed === undefined ? {} : { seed }),
      isBusy: () => this.#bodies.isBusy(),
    });
    this.#openStore = storeOpener(options.store);
    this.#observer = createWorkflows({
      workflows: options.workflows,
      ...(options.limits ? { limits: options.limits } : {}),
      store: this.#open(),
      runtime: this.runtime,
    });
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
    throw await this.#neverIdle(maxTicks);
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
    if (this.#options.autoRun) return this.runtime.advanceTo(target);
    await this.runUntilIdle({ runners });
    while (this.runtime.now() < target) {
      const timerAt = this.runtime.nextTimerAt() ?? target;
      const dueAt = (await this.#nextDueAt()) ?? target;
      await this.runtime.advanceTo(Math.max(this.runtime.now(), Math.min(timerAt, dueAt, target)));
      await this.runUntilIdle({ runners });
    }
    await this.settle();
  }

  /** When the next turn will be due. What is due already and was not taken is held by somebody, and passed over. */
  async #nextDueAt(): Promise<number | null> {
    const { store } = this.#observer;
    const names = Object.values(this.#options.workflows).map((workflow) => workflow.name);
    const first = await store.nextDueAt(names);
    if (first === null || first > this.runtime.now()) return first;
    let earliest: number | null = null;
    for await (const { dueAt } of this.#unfinished()) {
      if (dueAt === null || dueAt <= this.runtime.now()) continue;
      earliest = Math.min(earliest ?? dueAt, dueAt);
    }
    return earliest;
  }

  async #neverIdle(maxTicks: number): Promise<Error> {
    const busy: string[] = [];
    for await (const { workflowName, instanceId, status, dueAt } of this.#unfinished()) {
      if (dueAt === null || dueAt > this.runtime.now()) continue;
      busy.push(`"${instanceId}" of workflow "${workflowName}" (${status})`);
    }
    return new Error(
      `There is still something due after ${maxTicks} ticks: ${busy.join(", ") || "nothing any more"}. ` +
        "A workflow that never waits runs for ever; give it a sleep, or pass maxTicks.",
    );
  }

  async *#unfinished() {
    let after: string | undefined;
    do {
      const page = await this.#observer.store.listInstances({
        limit: 100,
        ...(after === undefined ? {} : { after }),
      });
      for (const record of page.items) {
        if (!isTerminal(record.status) && record.status !== "paused") yield record;
      }
      after = page.after;
    } while (after !== undefined);
  }

  // ---------------------------------------------------------------------------------------------- runners

  /** A runner by name, made when first asked for. */
  runner(name: string = mainRunner): HarnessRunner<Workflows> {
    const known = this.#runners.get(name);
    if (known) return known;
    const { workflows, limits, runner, onInterrupted, autoRun, onProblem } = this.#options;
    const app = {
      workflows,
      ...(limits ? { limits } : {}),
      ...(runner ? { runner } : {}),
      ...(onInterrupted ? { onInterrupted } : {}),
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
    return main && main.state !== "dead" ? main.app : this.#observer;
  }

  // ---------------------------------------------------------------------------------------------- looking

  async status(address: InstanceAddress): Promise<InstanceStatusView> {
    return (await this.#look(address)).status();
  }

  /** All steps and events of a run, the current one unless another is named. */
  async history(address: InstanceAddress, run: RunChoice = {}): Promise<WholeHistory> {
    const instance = await this.#look(address);
    const first = await instance.history(run);
    const steps = [...first.steps];
    const events = [...first.events];
    for (let cursor = first.stepsCursor; cursor !== undefined; ) {
      const page = await instance.history({ ...run, cursor });
      steps.push(...page.steps);
      cursor = page.stepsCursor;
    }
    for (let eventsCursor = first.eventsCursor; eventsCursor !== undefined; ) {
      const page = await instance.history({ ...run, eventsCursor });
      events.push(...page.events);
      eventsCursor = page.eventsCursor;
    }
    return { runNumber: first.runNumber, steps, events };
  }

  /** The steps of a run in words, in the order they began: ["charge completed", "cool-off waiting"]. */
  async steps(address: InstanceAddress, run: RunChoice = {}): Promise<string[]> {
    const { key } = await this.#find(address);
    const { steps } = await this.history(address, run);
    const mode = this.#options.workflows[key]?.mode ?? "everstep";
    return steps.map((step) => `${spokenName(step, mode)} ${step.status}`);
  }

  /** All log lines of a run. */
  async logs(address: InstanceAddress, run: RunChoice = {}): Promise<LogLineView[]> {
    const instance = await this.#look(address);
    const lines: LogLineView[] = [];
    let cursor: string | undefined;
    do {
      const page = await instance.logs({ ...run, ...(cursor === undefined ? {} : { cursor }) });
      lines.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return lines;
  }

  // ---------------------------------------------------------------------------------------------- acting

  /** Sends an event as the app would. Its turn comes with the next tick. */
  async sendEvent(address: InstanceAddress, event: OutgoingEvent): Promise<void> {
    const { key, id } = await this.#find(address);
    const instance = await this.#front.workflows[key].get(id);
    await instance.sendEvent(event);
  }

  /** Mocks of a workflow, by its key in `workflows` or its name, or of one of its instances. */
  mock(workflow: (keyof Workflows & string) | (string & {}), instanceId?: string): WorkflowMocks {
    return this.#mocks.edit(this.#definition(workflow).name, instanceId ?? null);
  }

  /** Ends everything without ceremony and closes the stores. */
  async stop(): Promise<void> {
    for (const runner of [...this.#runners.values(), ...this.#gone]) await runner.dispose();
    for (const store of new Set(this.#opened)) await store.close();
    this.#opened.length = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  // ---------------------------------------------------------------------------------------------- finding

  async #look(address: InstanceAddress): Promise<InstanceHandle> {
    const { key, id } = await this.#find(address);
    return this.#observer.workflows[key].get(id);
  }

  async #find(address: InstanceAddress): Promise<{ readonly key: keyof Workflows; readonly id: string }> {
    if (typeof address === "object" && "workflow" in address) {
      const { name } = this.#definition(address.workflow);
      return { key: this.#keyOf(name), id: address.id };
    }
    const id = typeof address === "string" ? address : address.id;
    const known = typeof address === "object" ? workflowKeyOf(address) : undefined;
    if (known !== undefined) return { key: known, id };
    await this.#observer.migrate();
    const found: string[] = [];
    for (const { name } of Object.values(this.#options.workflows)) {
      if (await this.#observer.store.getInstance({ workflowName: name, instanceId: id })) found.push(name);
    }
    const [name] = found;
    if (name === undefined) {
      throw new EverstepError("INSTANCE_NOT_FOUND", `No workflow of this harness has an instance "${id}".`);
    }
    if (found.length > 1) {
      throw new EverstepError(
        "INVALID_ARGUMENT",
        `Several workflows have an instance "${id}": ${found.join(", ")}. Say which: { workflow: "${name}", id: "${id}" }.`,
      );
    }
    return { key: this.#keyOf(name), id };
  }

  #definition(keyOrName: string): WorkflowDefinition {
    const { workflows } = this.#options;
    const found =
      (Object.hasOwn(workflows, keyOrName) ? workflows[keyOrName] : undefined) ??
      Object.values(workflows).find(({ name }) => name === keyOrName);
    if (found) return found;
    throw new EverstepError("WORKFLOW_NOT_FOUND", `This harness has no workflow "${keyOrName}".`);
  }

  #keyOf(workflowName: string): keyof Workflows {
    const entries = Object.entries(this.#options.workflows);
    return entries.find(([, { name }]) => name === workflowName)?.[0] as keyof Workflows;
  }

  // ---------------------------------------------------------------------------------------------- making

  /** A handle whose calls `settle` waits for; closing is left to the harness. */
  #open(): Store {
    const store = this.#openStore();
    this.#opened.push(store);
    return interceptStore(store, (call, apply) =>
      call.method === "close" ? Promise.resolve() : this.runtime.track(apply()),
    );
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

/** By the key, which says where a nested or repeated step belongs; keys of code written for Cloudflare say more. */
function spokenName({ name, stepKey }: StepView, mode: WorkflowMode): string {
  return mode === "cloudflare" ? name : stepKey;
}
