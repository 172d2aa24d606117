/** Every option that takes a duration, and how long it turns out to be, in milliseconds of a clock that the test moves. */
import {
  createWorkflows,
  type Duration,
  defineWorkflow,
  RetryAfterError,
  type WorkflowSettings,
} from "everstep";
import { createFakeRuntime, createGate, createTestHarness, memory } from "everstep/testing";

/** Uses the option, and says how long it was; rejects with what it was refused for. */
export type Measure = (duration: Duration) => Promise<number>;

type Run = Parameters<typeof defineWorkflow>[1];

const retried = { limit: 1, backoff: "constant" } as const;
const never = "365 days";

/** How long from now the run is due, after its first turn. */
async function dueIn(run: Run, options: Partial<WorkflowSettings> = {}): Promise<number> {
  const harness = createTestHarness({ workflows: { W: defineWorkflow({ name: "w", ...options }, run) } });
  const instance = await harness.workflows.W.create({ id: "i" });
  await harness.runUntilIdle();
  const { dueAt, error } = await instance.details();
  await harness.stop();
  if (error) throw error;
  return Number(dueAt) - harness.runtime.now();
}

const failing = (error: () => unknown) => () => {
  throw error();
};
const no = failing(() => new Error("no"));

/** What was recorded as the timeout of a step. */
async function recordedTimeout(run: Run, options: Partial<WorkflowSettings> = {}): Promise<number> {
  const harness = createTestHarness({ workflows: { W: defineWorkflow({ name: "w", ...options }, run) } });
  const instance = await harness.workflows.W.create({ id: "i" });
  await harness.runUntilIdle();
  const { error } = await instance.status();
  const { steps } = await instance.history();
  await harness.stop();
  if (error) throw error;
  return steps[0]?.timeoutMs ?? Number.NaN;
}

/** How long a run lasts before it is ended from outside. */
async function endedAfter(options: Partial<WorkflowSettings>): Promise<number> {
  const workflow = defineWorkflow({ name: "w", ...options }, async (_event, step) =>
    step.sleep("nap", never),
  );
  const harness = createTestHarness({ workflows: { W: workflow } });
  const instance = await harness.workflows.W.create({ id: "i" });
  const begun = harness.runtime.now();
  await harness.advance(never);
  const { completedAt } = await instance.details();
  await harness.stop();
  return Number(completedAt) - begun;
}

async function keptFor(options: Partial<WorkflowSettings>, retention?: Duration): Promise<number> {
  const harness = createTestHarness({
    workflows: { W: defineWorkflow({ name: "w", ...options }, async () => {}) },
  });
  const instance = await harness.workflows.W.create({
    id: "i",
    ...(retention === undefined ? {} : { retention }),
  });
  await harness.runUntilIdle();
  const { retentionUntil } = await instance.details();
  await harness.stop();
  return Number(retentionUntil) - harness.runtime.now();
}

/** Moves a clock until something has happened, and says when. */
async function passed(runtime: ReturnType<typeof createFakeRuntime>, act: Promise<unknown>): Promise<number> {
  const begun = runtime.now();
  let isOver = false;
  const ending = act.then(
    () => {
      isOver = true;
    },
    (error: unknown) => {
      isOver = true;
      throw error;
    },
  );
  ending.catch(() => {});
  await runtime.settle();
  while (!isOver) await runtime.advanceTo(runtime.nextTimerAt() ?? runtime.now());
  await ending;
  return runtime.now() - begun;
}

export const durationOptions: Readonly<Record<string, Measure>> = {
  "step.sleep": (duration) => dueIn((_event, step) => step.sleep("nap", duration)),
  "timeout of waitForEvent": (timeout) =>
    dueIn((_event, step) => step.waitForEvent("wait", { type: "note", timeout })),
  "timeout of a wait on a topic": (timeout) =>
    dueIn((_event, step) => step.waitForEvent("wait", { topic: "news", timeout })),
  "retries.delay of a step": (delay) =>
    dueIn((_event, step) => step.do("no", { retries: { ...retried, delay } }, no)),
  "retries.delay of a workflow": (delay) =>
    dueIn((_event, step) => step.do("no", no), { retries: { ...retried, delay } }),
  "retries.maxDelay": (maxDelay) =>
    dueIn((_event, step) => step.do("no", { retries: { ...retried, delay: never, maxDelay } }, no)),
  "what a delay function answers": async (delay) => {
    const due = await dueIn((_event, step) =>
      step.do("no", { retries: { ...retried, delay: () => delay } }, no),
    );
    return due;
  },
  RetryAfterError: (duration) =>
    dueIn((_event, step) =>
      step.do(
        "no",
        failing(() => new RetryAfterError("no", duration)),
      ),
    ),
  "timeout of a step": (timeout) =>
    recordedTimeout((_event, step) => step.do("yes", { timeout }, async () => 1)),
  "timeout of a workflow's steps": (timeout) =>
    recordedTimeout((_event, step) => step.do("yes", async () => 1), { timeout }),
  maxRunDuration: (maxRunDuration) => endedAfter({ maxRunDuration }),
  maxSuspendDuration: (maxSuspendDuration) => endedAfter({ maxSuspendDuration }),
  "retention of a workflow": (retention) => keptFor({ retention }),
  "retention of an instance": (retention) => keptFor({}, retention),

  "runner.lease": async (lease) => {
    const gate = createGate();
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("held", () => gate.wait()),
    );
    const harness = createTestHarness({ workflows: { W: workflow }, runner: { lease } });
    const instance = await harness.workflows.W.create({ id: "i" });
    await harness.tick();
    const { dueAt } = await instance.details();
    await harness.stop();
    return Number(dueAt) - harness.runtime.now();
  },

  "runner.poll": async (poll) => {
    const workflow = defineWorkflow({ name: "w" }, async () => {});
    const runner = { poll, minPoll: poll, maxPoll: poll };
    const harness = createTestHarness({ workflows: { W: workflow }, runner });
    const loop = harness.runner("loop");
    const polledAt: number[] = [];
    loop.faults.plan(({ method }) => {
      if (method === "claim") polledAt.push(harness.runtime.now());
      return null;
    });
    await loop.start();
    while (polledAt.length < 3) await harness.clock.advanceTo(harness.runtime.nextTimerAt() ?? 0);
    await harness.stop();
    return (polledAt[2] ?? 0) - (polledAt[1] ?? 0);
  },

  "grace of stop": async (grace) => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("held", { timeout: never }, () => new Promise(() => {})),
    );
    const runtime = createFakeRuntime();
    const app = createWorkflows({
      workflows: { W: workflow },
      store: memory(),
      runtime,
      runner: { lease: never },
    });
    await app.start();
    await app.workflows.W.create({ id: "i" });
    await runtime.settle();
    return passed(runtime, app.stop({ grace }));
  },

  "timeout of result": async (timeout) => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => step.sleep("nap", never));
    const runtime = createFakeRuntime();
    const app = createWorkflows({ workflows: { W: workflow }, store: memory(), runtime });
    const instance = await app.workflows.W.create({ id: "i" });
    return passed(runtime, instance.result({ timeout }));
  },

  "delay of retryFailedStep": async (delay) => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("no", { retries: false }, no),
    );
    const harness = createTestHarness({ workflows: { W: workflow } });
    const instance = await harness.workflows.W.create({ id: "i" });
    await harness.runUntilIdle();
    await instance.retryFailedStep({ delay });
    const { dueAt } = await instance.details();
    await harness.stop();
    return Number(dueAt) - harness.runtime.now();
  },

  "advance of the harness": async (duration) => {
    const harness = createTestHarness({ workflows: {} });
    const begun = harness.runtime.now();
    await harness.advance(duration);
    return harness.runtime.now() - begun;
  },
};
