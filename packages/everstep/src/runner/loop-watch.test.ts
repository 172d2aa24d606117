import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import type { WorkflowStep } from "../authoring/workflow-step.ts";
import { createWorkflows } from "../client/create-workflows.ts";
import { memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

/** What author code can do: keep the event loop for a while, and wait. */
interface Means {
  readonly crunch: (ms: number) => void;
  readonly pause: (ms: number) => Promise<void>;
}

/** One instance of a story beside one that only sleeps, and what was noticed. */
async function noticedOf(story: (step: WorkflowStep, means: Means) => Promise<unknown>) {
  const base = createFakeRuntime();
  let crunchedMs = 0;
  // The clock goes on, and no timer fires.
  const runtime = { ...base, monotonic: () => base.monotonic() + crunchedMs };
  const crunch = (ms: number): void => {
    crunchedMs += ms;
  };
  const pause = (ms: number): Promise<void> => new Promise((resolve) => void base.timer(resolve, ms));
  const notices: string[] = [];
  let isFirst = true;
  const busy = defineWorkflow({ name: "busy" }, async (_event, step) => {
    // It begins again once its lease has run out: once is enough.
    if (isFirst) {
      isFirst = false;
      await story(step, { crunch, pause });
    }
    return "over";
  });
  const other = defineWorkflow({ name: "other" }, async (_event, step) => step.sleep("nap", "1 day"));
  const app = createWorkflows({
    workflows: { busy, other },
    store: memory(),
    runtime,
    onNotice: (notice) => notices.push(notice),
    onProblem: () => {},
  });
  await app.start();
  await app.workflows.other.create();
  const instance = await app.workflows.busy.create({ id: "one" });
  await base.advance("2 minutes");
  expect(await instance.status()).toMatchObject({ status: "complete" });
  await app.stop();
  return notices;
}

describe("what keeps the event loop for longer than the lease is named", () => {
  const told = (where: string) => [
    expect.stringMatching(
      new RegExp(`^busy/one ${where}: the event loop stood still for about 4[0-6] seconds, longer than`),
    ),
  ];

  test("a body", async () => {
    const notices = await noticedOf((step, { crunch }) => step.do("crunch", async () => crunch(40_000)));
    expect(notices).toEqual(told('in step "crunch"'));
  });

  test("a body that has waited before, and waits again afterwards", async () => {
    const notices = await noticedOf((step, { crunch, pause }) =>
      step.do("crunch", async () => {
        await pause(100);
        crunch(40_000);
        await pause(100);
      }),
    );
    expect(notices).toEqual(told('in step "crunch"'));
  });

  test("a step inside of a step", async () => {
    const notices = await noticedOf((step, { crunch }) =>
      step.do("outer", () => step.do("inner", async () => crunch(40_000))),
    );
    expect(notices).toEqual(told('in step "inner"'));
  });

  test("code between two steps", async () => {
    const notices = await noticedOf(async (step, { crunch }) => {
      await step.do("first", async () => 1);
      crunch(40_000);
      await step.do("second", async () => 2);
    });
    expect(notices).toEqual(told("outside of any step"));
  });

  test("and nobody is whose computations are shorter", async () => {
    const notices = await noticedOf((step, { crunch, pause }) =>
      step.do("crunch", async () => {
        crunch(20_000);
        await pause(10_000);
      }),
    );
    expect(notices).toEqual([]);
  });
});

test("an endless loop around a step ends its own run at a limit, and keeps neither others nor a stop from going on", async () => {
  const endless = defineWorkflow({ name: "endless" }, async (_event, step) => {
    for (;;) {
      if (await step.do("ask", async () => false)) return;
      await step.sleep("wait", 1);
    }
  });
  const other = defineWorkflow({ name: "other" }, async (_event, step) => {
    await step.sleep("nap", 1);
    return step.do("work", async () => "worked");
  });
  // The real event loop.
  const app = createWorkflows({ workflows: { endless, other }, store: memory(), onNotice: () => {} });
  await app.start();
  const stuck = await app.workflows.endless.create();
  const sound = await app.workflows.other.create();
  expect(await sound.result()).toMatchObject({ output: "worked" });
  expect(await stuck.result()).toMatchObject({ status: "errored", error: { code: "STEP_LIMIT_EXCEEDED" } });
  await app.stop();
});
