import { limitsFrom } from "../authoring/check-limits.ts";
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { type Duration, parseDuration } from "../authoring/duration.ts";
import type { App } from "../client/app.ts";
import type { AppOptions, StopOptions as AppStopOptions } from "../client/app-options.ts";
import { createWorkflows } from "../client/create-workflows.ts";
import { EverstepError, type StoreFailure } from "../model/error.ts";
import { defaultLimits, runnerDefaults } from "../model/limits.ts";
import type { StopReport } from "../runner/runner.ts";
import type { TickOptions } from "../runner/ticks.ts";
import type { Store } from "../store/store.ts";
import type { BodyWatch } from "./body-watch.ts";
import type { FakeRuntime } from "./fake-runtime.ts";
import { createFaultyStore, type FaultyStore, type StopOptions, type StoreStop } from "./faulty-store.ts";
import type { StoreVerb } from "./intercept-store.ts";
import type { MockBook } from "./mocks.ts";
import { TestProcess } from "./test-process.ts";
import { testedWorkflow } from "./tested-workflow.ts";

export interface HarnessRunnerParts<Workflows extends Record<string, WorkflowDefinition>> {
  readonly name: string;
  readonly runtime: FakeRuntime;
  readonly mocks: MockBook;
  readonly bodies: BodyWatch;
  /** Already reports to the runtime which of its calls are under way. */
  readonly store: Store;
  readonly app: Pick<
    AppOptions<Workflows>,
    "workflows" | "limits" | "runner" | "ifInterrupted" | "observers"
  > & {
    readonly onProblem: (problem: unknown) => void;
  };
}

/** Where a runner stands still, and the ways to go on from there. */
export interface RunnerStop {
  readonly isReached: boolean;
  /** The whole runner goes on; resolves, settled, with what the store answered: "committed", "superseded", ... */
  continue(): Promise<string>;
  /** Goes on, but the reply is lost: the runner hears only that the outcome is unknown. */
  loseReply(): Promise<string>;
  /** Goes on, and hears that the call failed. */
  fail(failure: StoreFailure): Promise<string>;
  /** The runner is not stopped here any more, unless it has arrived already. */
  remove(): void;
}

/** A process with the shipped app in it: own store handle, own owner id, own timers. */
export class HarnessRunner<
  Workflows extends Record<string, WorkflowDefinition> = Record<string, WorkflowDefinition>,
> {
  readonly name: string;
  readonly app: App<Workflows>;
  /** The runner's store, to make its calls fail. */
  readonly faults: FaultyStore;
  readonly #process: TestProcess;
  readonly #runtime: FakeRuntime;
  readonly #onProblem: (problem: unknown) => void;
  #claimed = 0;

  constructor(parts: HarnessRunnerParts<Workflows>) {
    const { name, runtime, mocks, bodies, app } = parts;
    this.name = name;
    this.#runtime = runtime;
    this.#onProblem = app.onProblem;
    this.#process = new TestProcess(runtime);
    this.faults = createFaultyStore(parts.store);
    const tested = Object.entries(app.workflows).map(([key, definition]) => {
      const appLimits = limitsFrom(app.limits, defaultLimits, "limits", "INVALID_ARGUMENT");
      const own = definition.options.limits;
      const limits = limitsFrom(
        own,
        appLimits,
        `limits of workflow "${definition.name}"`,
        "INVALID_ARGUMENT",
      );
      const host = {
        mocks,
        bodies,
        process: this.#process,
        limits,
        mode: definition.mode,
        settle: runtime.settle,
      };
      return [
        key,
        testedWorkflow(definition, {
          ...host,
          sendMocked: (ref, place, event) => void this.#sendMocked(key, ref.instanceId, place, event),
        }),
      ];
    });
    this.app = createWorkflows({
      ...app,
      // No hint reaches another runner here: what happens when is for the test to say, on every store alike.
      runner: { maxPoll: runnerDefaults.maxPollMs, ...app.runner },
      workflows: Object.fromEntries(tested) as Workflows,
      store: this.#process.connect(this.faults),
      observers: [
        { onClaim: ({ withCreation }) => this.#countClaim(withCreation) },
        ...(app.observers ?? []),
      ],
      runtime: this.#process.runtime,
    });
  }

  get workflows(): App<Workflows>["workflows"] {
    return this.app.workflows;
  }

  get state(): "running" | "frozen" | "dead" {
    return this.#process.state;
  }

  /**
   * One sweep: claims what is due and takes the turns. Returns when every turn has ended or waits: for the clock, at a
   * gate, at a stop, or for real work that takes longer than the harness's patience. Gives the number of turns taken.
   */
  async tick(options?: TickOptions): Promise<number> {
    this.#requireRunning("tick");
    const before = this.#claimed;
    const failures: unknown[] = [];
    let hasReturned = false;
    this.app.tick(options).catch((error: unknown) => {
      // Turns that were held may end badly long after the tick has returned.
      if (hasReturned) this.#onProblem(error);
      else failures.push(error);
    });
    await this.#runtime.settle();
    hasReturned = true;
    if (failures.length > 0) throw failures[0];
    return this.#claimed - before;
  }

  /** Takes instances up by itself from now on, as the shipped loop does, when the clock moves and on nudges. */
  async start(): Promise<void> {
    await this.app.start();
    await this.#runtime.settle();
  }

  /** Graceful. Bodies in flight have `grace` time of the fake clock: advance it, or they never end. */
  stop(options?: AppStopOptions): Promise<StopReport> {
    return this.app.stop(options);
  }

  /** The process is gone without any cleanup; its leases run out with the time. */
  kill(): void {
    this.#process.kill();
  }

  /** Nothing moves in the process: no timer, no reply, no lease renewal. */
  freeze(): void {
    this.#process.freeze();
  }

  /** Everything that was due or answered meanwhile arrives at once. */
  async thaw(): Promise<void> {
    this.#process.thaw();
    await this.#runtime.settle();
  }

  /** Sets this runner's wall clock ahead of the others'. */
  skewClock(ahead: Duration): void {
    this.#process.skewMs = parseDuration(ahead, "clock skew");
  }

  /** Freezes the runner when it is about to make such a call to the store; arrange it, then tick. */
  stopBefore(verb: StoreVerb, options: StopOptions = {}): RunnerStop {
    return this.#stop(this.faults.stopBefore(verb, this.#freezing(options)));
  }

  /** Freezes the runner when such a call has been applied and its reply is still on the way. */
  stopAfter(verb: StoreVerb, options: StopOptions = {}): RunnerStop {
    return this.#stop(this.faults.stopAfter(verb, this.#freezing(options)));
  }

  async dispose(): Promise<void> {
    await this.#process.dispose();
  }

  #freezing(options: StopOptions): StopOptions {
    return {
      ...options,
      onReached: (call) => {
        this.freeze();
        options.onReached?.(call);
      },
    };
  }

  #stop(stop: StoreStop): RunnerStop {
    const released = async (goOn: () => Promise<string>): Promise<string> => {
      const going = goOn();
      this.#process.thaw();
      const answer = await going;
      await this.#runtime.settle();
      return answer;
    };
    return {
      get isReached() {
        return stop.isReached;
      },
      continue: () => released(() => stop.continue()),
      loseReply: () => released(() => stop.loseReply()),
      fail: (failure) => released(() => stop.fail(failure)),
      remove: () => stop.remove(),
    };
  }

  #countClaim(withCreation: boolean): void {
    if (!withCreation) this.#claimed += 1;
  }

  /** The id says which wait of which run it is for, so that a replay sends it again without effect. */
  async #sendMocked(
    key: string,
    instanceId: string,
    place: string,
    event: { readonly type: string; readonly payload: unknown },
  ): Promise<void> {
    try {
      const handle = await this.app.workflows[key as keyof Workflows].get(instanceId);
      const { runNumber, workflowName } = await handle.details();
      const id = ["mock", workflowName, instanceId, runNumber, place, event.type].join(":");
      await handle.sendEvent({ ...event, idempotencyKey: id });
    } catch (problem) {
      this.#onProblem(problem);
    }
  }

  #requireRunning(what: string): void {
    if (this.state === "running") return;
    throw new EverstepError(
      "INVALID_ARGUMENT",
      this.state === "dead"
        ? `Runner "${this.name}" was killed and cannot ${what}. Bring it back with harness.restartRunner("${this.name}").`
        : `Runner "${this.name}" is frozen and cannot ${what}. Thaw it, or continue it at its stop.`,
    );
  }
}
