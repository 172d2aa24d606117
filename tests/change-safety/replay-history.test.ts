/** One history, replayed without a store. */
import { defineWorkflow, type HistoryDocument, replayHistory } from "everstep";
import { createTestHarness } from "everstep/testing";
import { beforeAll, describe, expect, test } from "vitest";
import { build, type Code } from "./deploy.ts";

async function historyOf(code: Code, play: (story: ReturnType<typeof storyOf>) => Promise<unknown>) {
  const story = storyOf(code);
  const instance = await story.workflows.W.create({ id: "i", params: { n: 1 } });
  await story.runUntilIdle();
  await play(story);
  const history = await instance.exportHistory();
  await story.stop();
  return history;
}

function storyOf(code: Code) {
  return createTestHarness({ workflows: { W: build(code) } });
}

const pricing: Code = async (step, event) => {
  const price = await step.do("price", async () => event.payload.n * 10);
  await step.sleep("cool-off", "1 hour");
  return { price };
};

let open: HistoryDocument;
let complete: HistoryDocument;
let failed: HistoryDocument;

beforeAll(async () => {
  open = await historyOf(pricing, async () => {});
  complete = await historyOf(pricing, (story) => story.advance("1 hour"));
  failed = await historyOf(
    async (step) => {
      await step.do("refuse", { retries: false }, async () => {
        throw new RangeError("too much");
      });
    },
    async () => {},
  );
});

describe("a replay", () => {
  test("says what the function asked for, and runs nothing", async () => {
    let ran = 0;
    const replayed = await replayHistory(
      open,
      build(async (step) => {
        await step.do("price", async () => ++ran);
        await Promise.all([step.sleep("cool-off", "1 hour"), step.do("new", async () => ++ran)]);
      }),
    );
    expect(replayed).toEqual({
      classification: "continues",
      asked: [
        { stepKey: "price", name: "price", type: "do", recorded: "completed" },
        { stepKey: "cool-off", name: "cool-off", type: "sleep", recorded: "waiting" },
        { stepKey: "new", name: "new", type: "do", recorded: null },
      ],
      finding: expect.objectContaining({ workflowName: "w", instanceId: "i", newSteps: ["new"] }),
    });
    expect(ran).toBe(0);
  });

  test("gives the function what it was given: the same payload, time and ids", async () => {
    const seen: unknown[] = [];
    await replayHistory(
      open,
      defineWorkflow({ name: "w" }, async (event, step) => {
        seen.push(event);
        return step.sleep("cool-off", "1 hour");
      }),
    );
    expect(seen).toEqual([
      { payload: { n: 1 }, timestamp: new Date(open.createdAt), instanceId: "i", workflowName: "w" },
    ]);
  });

  test.each<[string, Code, string]>([
    ["the same code", pricing, "identical"],
    ["another output", async (step) => (await pricing(step, { payload: { n: 1 } } as never)) && 1, "differs"],
    [
      "an error",
      async () => {
        throw new Error("no");
      },
      "differs",
    ],
    [
      "one more step",
      async (step) => (await pricing(step, {} as never)) && step.do("ship", async () => 1),
      "continues",
    ],
    ["another kind of step", async (step) => step.sleep("price", "1 hour"), "mismatch"],
    ["no steps", async () => ({ price: 10 }), "orphaned"],
  ])("of a complete run, with %s", async (_what, code, expected) => {
    expect(await replayHistory(complete, build(code))).toMatchObject({ classification: expected });
  });

  test("of a complete run gives its output", async () => {
    expect((await replayHistory(complete, build(pricing))).output).toEqual({ price: 10 });
  });

  test("of a failed run gives the error it failed with, of its own class", async () => {
    const { classification, error } = await replayHistory(
      failed,
      build((step) => step.do("refuse", async () => {})),
    );
    expect([classification, error]).toEqual(["identical", expect.any(RangeError)]);
    expect(error?.message).toBe("too much");
  });

  test("gives up on code that does not come to rest", async () => {
    const stuck = build(async (step) => {
      await step.do("price", async () => 1);
      await new Promise(() => {});
    });
    expect(await replayHistory(open, stuck, { patience: 20 })).toMatchObject({ classification: "stuck" });
  });

  test("refuses a history of another workflow, of another version, and a damaged one", async () => {
    const other = defineWorkflow({ name: "other" }, async () => {});
    await expect(replayHistory(open, other)).rejects.toMatchObject({
      code: "HISTORY_OF_OTHER_WORKFLOW",
      details: { recorded: "w", given: "other" },
    });
    const newer = { ...open, version: 2 } as unknown as HistoryDocument;
    await expect(replayHistory(newer, build(pricing))).rejects.toMatchObject({
      code: "HISTORY_VERSION_UNKNOWN",
    });
    const damaged = { ...open, steps: [{}] } as unknown as HistoryDocument;
    await expect(replayHistory(damaged, build(pricing))).rejects.toMatchObject({ code: "INVALID_HISTORY" });
    await expect(replayHistory(open, {} as never)).rejects.toMatchObject({
      code: "INVALID_WORKFLOW_DEFINITION",
    });
  });
});
