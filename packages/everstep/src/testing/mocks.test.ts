import { describe, expect, test } from "vitest";
import { buildDefinition, defineWorkflow } from "../authoring/define-workflow.ts";
import { createTestHarness } from "./harness.ts";

const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  const charge = await step.do(
    "charge",
    { retries: { limit: 3, delay: "1 minute" } },
    async () => "really charged",
  );
  await step.sleep("cool-off", "1 hour");
  const approval = await step.waitForEvent("approval", { type: "approved", timeout: "3 days" });
  return { charge, by: approval.payload.by };
});

async function started(prepare: (mocks: ReturnType<ReturnType<typeof harnessOf>["mock"]>) => void) {
  const harness = harnessOf();
  prepare(harness.mock("ORDER"));
  await harness.workflows.ORDER.create({ id: "it" });
  await harness.runUntilIdle();
  return harness;
}

function harnessOf() {
  return createTestHarness({ workflows: { ORDER: order } });
}

test("mocks that nothing has met are problems when the harness stops", async () => {
  const harness = await started((mocks) => {
    mocks.step("charge").returns(1);
    mocks.step("chrage").returns(2);
    mocks.event("approved").arrives();
    mocks.event("approvd").arrives();
    mocks.disableSleeps();
  });
  harness.mock("ORDER", "it").step("charge").returns(3);
  await harness.runUntilIdle();
  await harness.stop();
  await harness.stop();
  expect(harness.problems.map(String)).toEqual([
    'Error: The mock of step "chrage" of workflow "order" was never met.',
    'Error: The mock of event "approvd" of workflow "order" was never met.',
    'Error: The mock of step "charge" of workflow "order" was never met.',
  ]);
});

describe("a mocked step", () => {
  test("returns what the test says, recorded like any result", async () => {
    const harness = await started((mocks) => mocks.step("charge").returns({ id: 7 }));
    const { steps } = await harness.history("it");
    expect(steps[0]).toMatchObject({
      name: "charge",
      type: "do",
      status: "completed",
      attempts: 1,
      result: { id: 7 },
    });
  });

  test("may compute its result from the context", async () => {
    const harness = await started((mocks) =>
      mocks.step("charge").returns((context: { attempt: number }) => `attempt ${context.attempt}`),
    );
    expect((await harness.history("it")).steps[0]).toMatchObject({ result: "attempt 1" });
  });

  test("fails as often as the test says, with real retries in between, then runs", async () => {
    const harness = await started((mocks) =>
      mocks.step("charge").throws(new Error("card declined"), { times: 2 }),
    );
    expect(await harness.steps("it")).toEqual(["charge waiting"]);
    await harness.advance("3 minutes");
    const [charge] = (await harness.history("it")).steps;
    expect(charge).toMatchObject({ status: "completed", attempts: 3, result: "really charged" });
    expect(charge?.errors.map(({ message, attempt }) => `${attempt} ${message}`)).toEqual([
      "1 card declined",
      "2 card declined",
    ]);
  });

  test("fails for good when the test does not say how often", async () => {
    const harness = await started((mocks) => mocks.step("charge").throws(new Error("card declined")));
    await harness.advance("1 hour");
    expect(await harness.status("it")).toMatchObject({
      status: "errored",
      error: { message: "card declined" },
    });
  });

  test("times out by the clock", async () => {
    const harness = await started((mocks) => mocks.step("charge").timesOut({ times: 1 }));
    expect(await harness.steps("it")).toEqual([]);
    await harness.advance("10 minutes");
    expect((await harness.history("it")).steps[0]).toMatchObject({
      status: "waiting",
      errors: [{ code: "STEP_TIMEOUT" }],
    });
    await harness.advance("1 minute");
    expect((await harness.history("it")).steps[0]).toMatchObject({ result: "really charged" });
  });

  test("goes through several behaviours, one after another", async () => {
    const harness = await started((mocks) =>
      mocks.step("charge").throws(new Error("down"), { times: 1 }).timesOut({ times: 1 }).returns("at last"),
    );
    await harness.advance("1 hour");
    const [charge] = (await harness.history("it")).steps;
    expect(charge?.errors.map(({ name }) => name)).toEqual(["Error", "StepTimeoutError"]);
    expect(charge).toMatchObject({ attempts: 3, result: "at last" });
  });

  test("can be one occurrence of a repeated step, or a nested one", async () => {
    const parts = defineWorkflow({ name: "parts" }, async (_event, step) => {
      const first = await step.do("part", { repeat: true }, () => "real");
      const second = await step.do("part", { repeat: true }, () => "real");
      const nested = await step.do("outer", () => step.do("inner", () => "real"));
      return [first, second, nested];
    });
    const harness = createTestHarness({ workflows: { PARTS: parts } });
    harness.mock("parts").step("part", { count: 2 }).returns("mocked");
    harness.mock("parts").step("inner").returns("mocked inside");
    await harness.workflows.PARTS.create({ id: "it" });
    await harness.runUntilIdle();
    expect(await harness.status("it")).toMatchObject({ output: ["real", "mocked", "mocked inside"] });
  });
});

describe("a mocked event", () => {
  test("arrives when the instance waits for it, as if it had been sent", async () => {
    const harness = await started((mocks) => {
      mocks
        .disableSleeps()
        .event("approved")
        .arrives({ payload: { by: "ann" } });
    });
    expect(await harness.status("it")).toEqual({
      status: "complete",
      output: { charge: "really charged", by: "ann" },
    });
    const { steps, events } = await harness.history("it");
    expect(events).toMatchObject([
      { type: "approved", payload: { by: "ann" }, consumedByStepKey: "approval" },
    ]);
    expect(steps.at(-1)).toMatchObject({
      type: "waitForEvent",
      status: "completed",
      waitEventType: "approved",
    });
  });

  test("arrives once, however often the wait is passed again", async () => {
    const harness = harnessOf();
    harness
      .mock("ORDER")
      .event("approved")
      .arrives({ payload: { by: "ann" } });
    await harness.workflows.ORDER.create({ id: "it" });
    const first = harness.runner("a");
    await first.tick();
    await harness.clock.advance("1 hour");
    const stop = first.stopBefore("sendEvent");
    await first.tick();
    expect(stop.isReached).toBe(true);
    first.kill();
    await harness.advance("2 minutes");
    expect(await harness.status("it")).toMatchObject({ status: "complete", output: { by: "ann" } });
    await stop.continue();
    expect((await harness.history("it")).events).toHaveLength(1);
  });

  test("arrives again in the next run", async () => {
    const harness = await started((mocks) =>
      mocks.disableSleeps().event("approved").arrives({ payload: {} }),
    );
    await (await harness.workflows.ORDER.get("it")).restart();
    await harness.runUntilIdle();
    expect(await harness.history("it")).toMatchObject({ runNumber: 2, events: [{ type: "approved" }] });
    expect(await harness.status("it")).toMatchObject({ status: "complete" });
  });

  test("can be left out: the wait is over at once", async () => {
    const harness = await started((mocks) => mocks.disableSleeps().event("approved").timesOut());
    expect(await harness.status("it")).toMatchObject({
      status: "errored",
      error: { code: "WAIT_FOR_EVENT_TIMEOUT" },
    });
    expect(harness.runtime.monotonic()).toBe(0);
  });

  test("waits that are not mocked are held to the real limits", async () => {
    const hasty = defineWorkflow({ name: "hasty" }, (_event, step) =>
      step.waitForEvent("wait", { type: "go", timeout: 10 }),
    );
    const harness = createTestHarness({ workflows: { HASTY: hasty } });
    await harness.workflows.HASTY.create({ id: "it" });
    await harness.runUntilIdle();
    expect(await harness.status("it")).toMatchObject({
      error: {
        code: "INVALID_DURATION",
        message: 'timeout of wait "wait" must be at least 1 second, not 10 ms.',
      },
    });
  });

  test.each(["arrives", "timesOut"] as const)("%s also for code written for Cloudflare", async (mocked) => {
    const run = async (_event: unknown, step: Parameters<typeof order.run>[1]) => {
      const results: string[] = [];
      for (let n = 0; n < 2; n++) {
        const wait = step.waitForEvent("wait", { type: "go", timeout: 0 });
        results.push(
          await wait.then(
            (event) => `event ${event.payload}`,
            () => "nothing",
          ),
        );
      }
      return results;
    };
    const definition = buildDefinition({ name: "cf" }, run, "cloudflare");
    const harness = createTestHarness({ workflows: { CF: definition } });
    harness.mock("CF").event("go")[mocked]({ payload: 1 });
    await harness.workflows.CF.create({ id: "it" });
    await harness.runUntilIdle();
    const expected = mocked === "arrives" ? "event 1" : "nothing";
    expect(await harness.status("it")).toMatchObject({ output: [expected, expected] });
    expect(await harness.steps("it")).toHaveLength(2);
  });
});

describe("time that need not pass", () => {
  test("sleeps can be switched off, all of them or by name", async () => {
    const sleeper = defineWorkflow({ name: "sleeper" }, async (_event, step) => {
      await step.sleep("short", "1 minute");
      await step.sleepUntil("long", Date.UTC(2026, 5, 1));
    });
    const harness = createTestHarness({ workflows: { SLEEPER: sleeper } });
    harness.mock("SLEEPER", "some").disableSleeps("short");
    harness.mock("SLEEPER", "all").disableSleeps();
    await harness.workflows.SLEEPER.createBatch([{ id: "none" }, { id: "some" }, { id: "all" }]);
    await harness.runUntilIdle();
    expect(await harness.steps("none")).toEqual(["short waiting"]);
    expect(await harness.steps("some")).toEqual(["short completed", "long waiting"]);
    expect(await harness.steps("all")).toEqual(["short completed", "long completed"]);
  });

  test("a sleep that is not legal is refused all the same", async () => {
    const wrong = defineWorkflow({ name: "wrong" }, (_event, step) => step.sleep("nap", "soon"));
    const harness = createTestHarness({ workflows: { WRONG: wrong } });
    harness.mock("WRONG").disableSleeps();
    await harness.workflows.WRONG.create({ id: "it" });
    await harness.runUntilIdle();
    expect(await harness.status("it")).toMatchObject({ error: { code: "INVALID_DURATION" } });
  });

  test("retries can follow at once, with as many attempts as before", async () => {
    const harness = await started((mocks) => {
      mocks.disableRetryDelays();
      mocks.step("charge").throws(new Error("down"));
    });
    expect(await harness.status("it")).toMatchObject({ status: "errored" });
    expect((await harness.history("it")).steps[0]).toMatchObject({ attempts: 4, maxAttempts: 4 });
    expect(harness.runtime.monotonic()).toBe(0);
  });

  test.each([
    ["no configuration", undefined, 6],
    ["null", null, 6],
    ["retries: false", { retries: false }, 1],
    ["other words", { maxAttempts: 3, intervalSeconds: 60 }, 3],
    ["a delay function", { retries: { limit: 1, delay: () => "1 day" } }, 2],
  ] as const)("retries without delay: %s", async (_name, config, attempts) => {
    const failing = defineWorkflow({ name: "failing" }, (_event, step) => {
      const fail = () => Promise.reject(new Error("down"));
      return config === undefined ? step.do("call", fail) : step.do("call", config, fail);
    });
    const harness = createTestHarness({ workflows: { FAILING: failing } });
    harness.mock("FAILING").disableRetryDelays();
    await harness.workflows.FAILING.create({ id: "it" });
    await harness.runUntilIdle();
    expect((await harness.history("it")).steps).toMatchObject([{ status: "errored", attempts }]);
  });
});

describe("mocks", () => {
  test("of an instance win over those of its workflow, and others are left alone", async () => {
    const harness = harnessOf();
    harness.mock("ORDER").step("charge").returns("all");
    harness.mock("order", "special").step("charge").throws(new Error("special"), { times: 1 });
    await harness.workflows.ORDER.createBatch([{ id: "usual" }, { id: "special" }]);
    await harness.runUntilIdle();
    expect(await harness.steps("usual")).toEqual(["charge completed", "cool-off waiting"]);
    expect(await harness.steps("special")).toEqual(["charge waiting"]);
    await harness.advance("1 minute");
    expect((await harness.history("special")).steps[0]).toMatchObject({ result: "all" });
  });

  test("survive restarts of the runner and of the instance", async () => {
    const harness = await started((mocks) => mocks.step("charge").throws(new Error("down"), { times: 2 }));
    await harness.restartRunner();
    await harness.advance("3 minutes");
    expect((await harness.history("it")).steps[0]).toMatchObject({ attempts: 3, status: "completed" });
    await (await harness.workflows.ORDER.get("it")).restart();
    await harness.advance("3 minutes");
    expect(await harness.history("it")).toMatchObject({ runNumber: 2, steps: [{ attempts: 3 }, {}] });
  });

  test("what is said later wins", async () => {
    const harness = await started((mocks) => {
      mocks.step("charge").returns("first");
      mocks.step("charge").returns("second");
    });
    expect((await harness.history("it")).steps[0]).toMatchObject({ result: "second" });
  });
});

test("a step called with the wrong arguments hears of it from the engine", async () => {
  const wrong = defineWorkflow({ name: "wrong" }, async (_event, step) => {
    await (step.do as (...args: unknown[]) => Promise<unknown>)(
      "call",
      {},
      () => 1,
      () => 2,
    );
  });
  const missing = defineWorkflow({ name: "missing" }, async (_event, step) => {
    await (step.do as (...args: unknown[]) => Promise<unknown>)("call", {});
  });
  const harness = createTestHarness({ workflows: { WRONG: wrong, MISSING: missing } });
  harness.mock("WRONG").disableRetryDelays();
  await harness.workflows.WRONG.create({ id: "a" });
  await harness.workflows.MISSING.create({ id: "b" });
  await harness.runUntilIdle();
  for (const id of ["a", "b"]) {
    expect(await harness.status(id)).toMatchObject({ error: { code: "INVALID_STEP_CONFIG" } });
  }
});
