/** Every setting of an app that makes no sense is refused with a sentence, where it is made. */
import { createTestHarness, memory } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { EverstepError } from "../model/error.ts";
import { createMemoryDatabase } from "../stores/memory/database.ts";
import { createWorkflows } from "./create-workflows.ts";

const make = (options: object) => () =>
  createWorkflows({ workflows: {}, store: memory(), ...options } as never);

function refusalOf(act: () => unknown): readonly [code: string, message: string] {
  try {
    act();
  } catch (error) {
    if (error instanceof EverstepError) return [error.code, error.message];
    throw error;
  }
  return ["nothing", "nothing was refused"];
}

describe("createWorkflows refuses", () => {
  const wholes = [Number.NaN, -1, 1.5, "3", null, {}];
  test.each<[setting: string, values: readonly unknown[]]>([
    ["runner.concurrency", [0, ...wholes.filter((value) => value !== null)]],
    ["runner.maxResidents", wholes.filter((value) => value !== null)],
    ["runner.maxMemoryBytes", [0, ...wholes.filter((value) => value !== null)]],
    ["runner.lease", [0, 1, 999, -1, Number.NaN, Number.POSITIVE_INFINITY, "soon", null]],
    ["runner.poll", [0, 9, -1, Number.NaN, "soon", null]],
    ["runner.minPoll", [0, -1, Number.NaN, "soon", null]],
    ["runner.maxPoll", [0, -1, Number.NaN, "soon", null]],
    ["limits.maxSteps", wholes],
    ["limits.pageSize", [0, ...wholes]],
    ["limits.maxBatchSize", [0, ...wholes]],
    ["limits.maxCrashes", [0, ...wholes]],
    ["limits.stallTimeout", [0, -1, Number.NaN, "soon", null, {}]],
    ["limits.stepMax", [5]],
    ["hooks.onEnded", [null, {}, "call me"]],
    ["hooks.onRestarted", [null, {}]],
    ["runtime.now", [null, 5]],
    ["onNotice", [null, {}]],
    ["onProblem", [null, 5]],
    ["ifInterrupted", [null, "retri", "resume", 5]],
  ])("%s that makes no sense", (setting, values) => {
    const [place, name] = setting.includes(".") ? setting.split(".") : [null, setting];
    for (const value of values) {
      const own = { [name as string]: value };
      const [code, message] = refusalOf(make(place ? { [place]: own } : own));
      expect([code, message], `${setting}: ${String(value)}`).toEqual([
        expect.stringMatching(/^INVALID_(ARGUMENT|DURATION)$/),
        expect.stringContaining(name as string),
      ]);
    }
  });

  test.each(["runner", "limits"])("%s that is no object", (place) => {
    expect(refusalOf(make({ [place]: 5 }))[0]).toBe("INVALID_ARGUMENT");
  });

  test("polling whose least is more than its most", () => {
    expect(refusalOf(make({ runner: { minPoll: "2 seconds", maxPoll: "1 second" } }))).toEqual([
      "INVALID_ARGUMENT",
      expect.stringContaining("minPoll"),
    ]);
  });

  test('ifInterrupted: "fail" on a store that notices no process that dies', () => {
    expect(refusalOf(make({ ifInterrupted: "fail" }))).toEqual([
      "INVALID_ARGUMENT",
      expect.stringContaining('"memory" does not'),
    ]);
    const store = memory({ database: createMemoryDatabase({ ownership: true }) });
    expect(refusalOf(make({ ifInterrupted: "fail", store }))[0]).toBe("nothing");
  });
});

test("limits of a workflow are checked where it is defined", () => {
  const define = (limits: object) => () => defineWorkflow({ name: "w", limits }, async () => {});
  expect(refusalOf(define({ maxSteps: Number.NaN }))).toEqual([
    "INVALID_WORKFLOW_DEFINITION",
    expect.stringContaining('limits of workflow "w".maxSteps is NaN'),
  ]);
  expect(define({ maxSteps: undefined })().limits.maxSteps).toBe(1024);
});

test("a limit that is undefined is left out", async () => {
  const echo = defineWorkflow({ name: "w" }, async () => {});
  const app = createWorkflows({
    workflows: { W: echo },
    store: memory(),
    limits: { maxSteps: undefined } as never,
  });
  expect((await app.manifest())[0]?.limits.maxSteps).toBe(1024);
});

describe("a call refuses", () => {
  test.each([Number.NaN, 1.5, -1, 0, "5", Number.POSITIVE_INFINITY])(
    "prune with the limit %s",
    async (limit) => {
      await using story = createTestHarness({ workflows: {} });
      await expect(story.app.prune({ limit: limit as number })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
        message: expect.stringContaining("limit of prune"),
      });
    },
  );

  test.each(["maxInstances", "maxSteps"])("a tick with %s that is no number of them", async (name) => {
    await using story = createTestHarness({ workflows: {} });
    for (const value of [Number.NaN, -1, 1.5, "2"]) {
      await expect(story.app.tick({ [name]: value })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
  });

  test("a stop whose grace is no duration", async () => {
    await using story = createTestHarness({ workflows: {} });
    await expect(story.app.stop({ grace: "soon" })).rejects.toMatchObject({ code: "INVALID_DURATION" });
  });
});
