/** An error that says when it wants to be asked again is heard, however many hands it goes through. */
import { defineWorkflow, RetryAfterError, type WorkflowStep } from "everstep";
import { describe, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";
import { recordOf } from "../scenarios/early-wake.ts";

const minute = 60_000;
const day = 24 * 60 * minute;

const asking: Record<string, () => unknown> = {
  "a RetryAfterError": () => new RetryAfterError("busy", "7 minutes"),
  "a property in seconds": () => Object.assign(new Error("busy"), { retryAfter: 7 * 60 }),
  "a property in words": () => Object.assign(new Error("busy"), { retryAfter: "7 minutes" }),
  "a header in seconds": () => Object.assign(new Error("busy"), { headers: { "retry-after": "420" } }),
};

const again = (error: unknown): never => {
  throw error;
};

const ways: Record<string, (step: WorkflowStep, fail: () => never) => Promise<unknown>> = {
  "thrown in a step": (step, fail) => step.do("outer", async () => fail()),
  "caught and thrown again": (step, fail) =>
    step.do("outer", async () => Promise.reject().catch(fail).catch(again)),
  "thrown by a step inside, which is not retried, and thrown again outside": (step, fail) =>
    step.do("outer", async () => step.do("inner", { retries: false }, async () => fail()).catch(again)),
};

onEachStore("retry after", (tell) => {
  describe("R-063 the time it asks for is the time of the next attempt", () => {
    const cases = Object.keys(asking).flatMap((what) => Object.keys(ways).map((way) => [what, way] as const));
    test.each(cases)("%s, %s", async (what, way) => {
      const startedAt: number[] = [];
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
        ways[way]?.(step, () => {
          startedAt.push(story.runtime.now());
          throw asking[what]?.();
        }).catch(() => "given up"),
      );
      const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
      await story.workflows.W.create({ id: "i" });
      await story.runUntilIdle();
      const begun = startedAt[0] ?? 0;
      expect(await recordOf(story, "i")).toMatchObject({ status: "waiting", dueAt: begun + 7 * minute });
      // It is written down: another process keeps to it, and so do those after it.
      for (let n = 0; n < 6; n++) {
        await story.restartRunner();
        await story.advance("1 minute");
      }
      expect(startedAt).toHaveLength(1);
      await story.advance("59 seconds");
      expect((await story.history("i")).steps[0]).toMatchObject({
        nextRetryAt: new Date(begun + 7 * minute),
        attempts: 1,
      });
      await story.advance("1 second");
      const { attempts } = (await story.history("i")).steps[0] ?? {};
      expect(attempts).toBe(2);
    });
  });

  test("R-063 an error that went through a finished step keeps its wish for whoever throws it again", async () => {
    const startedAt: number[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const busy = await step
        .do("ask", { retries: false }, async () => {
          throw new RetryAfterError("busy", "7 minutes");
        })
        .catch((error: unknown) => error);
      // By now it has been in the store and back.
      await step.sleep("nap", "1 minute");
      await step.do("again", { retries: { limit: 1, delay: "1 second" } }, async ({ attempt }) => {
        startedAt.push(story.runtime.now());
        if (attempt === 1) throw busy;
      });
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    await story.workflows.W.create({ id: "i" });
    await story.advance("20 minutes");
    expect((await story.status("i")).status).toBe("complete");
    expect(startedAt.map((at) => at - (startedAt[0] ?? 0))).toEqual([0, 7 * minute]);
  });

  test.each([
    ["two years from now", () => new RetryAfterError("busy", "2 years")],
    ["nonsense", () => Object.assign(new Error("busy"), { retryAfter: "soon" })],
    ["minus one", () => Object.assign(new Error("busy"), { retryAfter: -1 })],
    ["not a number", () => Object.assign(new Error("busy"), { retryAfter: Number.NaN })],
    ["for ever", () => Object.assign(new Error("busy"), { retryAfter: Number.POSITIVE_INFINITY })],
  ])("R-063 %s is not believed: the step's own delay counts", async (_title, make) => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("ask", { retries: { limit: 1, delay: "5 seconds" } }, async ({ attempt }) => {
        if (attempt === 1) throw make();
      }),
    );
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect((await recordOf(story, "i")).dueAt).toBe(story.runtime.now() + 5000);
  });

  test("R-063 a wish of a year is granted", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("ask", async () => {
        throw new RetryAfterError("busy", "365 days");
      }),
    );
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect((await recordOf(story, "i")).dueAt).toBe(story.runtime.now() + 365 * day);
  });
});
