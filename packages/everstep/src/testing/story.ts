/**
 * Races told as stories: one instance of one workflow, and runners that are stopped, overtaken and continued.
 *
 *   const story = await tell(chargeThenShip);
 *   const slow = await story.runner("slow").stopBefore("commit");   // charged, not yet recorded
 *   await story.clock.advance("2 minutes");                         // its lease has run out
 *   await story.runner("fast").tick();
 *   expect(await slow.continue()).toBe("superseded");
 *   expect(await story.steps()).toEqual(["charge completed", "ship completed"]);
 */
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { OutgoingEvent } from "../authoring/workflow-step.ts";
import type { InstanceHandle } from "../handles/instance-handle.ts";
import type { InstanceStatusView } from "../handles/views.ts";
import type { StopOptions } from "./faulty-store.ts";
import { createTestHarness, type TestClock, type TestHarness, type TestHarnessOptions } from "./harness.ts";
import type { HarnessRunner, RunnerStop } from "./harness-runner.ts";
import type { StoreVerb } from "./intercept-store.ts";

export interface StoryOptions extends Omit<TestHarnessOptions<StoryWorkflows>, "workflows"> {
  /** Of the instance; default "it". */
  readonly id?: string;
  readonly params?: unknown;
}

export interface Story {
  readonly harness: TestHarness<StoryWorkflows>;
  /** The instance the story is about. */
  readonly instance: InstanceHandle;
  readonly clock: TestClock;
  runner(name: string): StoryRunner;
  status(): Promise<InstanceStatusView>;
  steps(): Promise<string[]>;
  sendEvent(event: OutgoingEvent): Promise<void>;
}

export interface StoryRunner {
  readonly runner: HarnessRunner<StoryWorkflows>;
  tick(): Promise<number>;
  kill(): void;
  /** Ticks until the runner stands still before such a call to the store. */
  stopBefore(verb: StoreVerb, options?: StopOptions): Promise<RunnerStop>;
  /** Ticks until the runner stands still after such a call was applied, before it hears of it. */
  stopAfter(verb: StoreVerb, options?: StopOptions): Promise<RunnerStop>;
}

interface StoryWorkflows extends Record<string, WorkflowDefinition> {
  readonly WORKFLOW: WorkflowDefinition;
}

/** Begins a story: a harness with the workflow, and an instance of it that no runner has seen yet. */
export async function tell(workflow: WorkflowDefinition, options: StoryOptions = {}): Promise<Story> {
  const { id = "it", params, ...others } = options;
  const harness = createTestHarness<StoryWorkflows>({ ...others, workflows: { WORKFLOW: workflow } });
  const instance: InstanceHandle = await harness.workflows.WORKFLOW.create({ id, params });
  return {
    harness,
    instance,
    clock: harness.clock,
    runner: (name) => storyRunner(harness.runner(name)),
    status: () => harness.status(instance),
    steps: () => harness.steps(instance),
    sendEvent: (event) => harness.sendEvent(instance, event),
  };
}

function storyRunner(runner: HarnessRunner<StoryWorkflows>): StoryRunner {
  const stopped = async (stop: RunnerStop, verb: StoreVerb): Promise<RunnerStop> => {
    await runner.tick();
    if (stop.isReached) return stop;
    throw new Error(`Runner "${runner.name}" ticked and made no "${verb}" to be stopped at.`);
  };
  return {
    runner,
    tick: () => runner.tick(),
    kill: () => runner.kill(),
    stopBefore: (verb, options) => stopped(runner.stopBefore(verb, options), verb),
    stopAfter: (verb, options) => stopped(runner.stopAfter(verb, options), verb),
  };
}
