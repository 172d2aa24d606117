/** Whatever author code throws, answers or leaves running: the instance ends, and nothing else is harmed. */
import { defineWorkflow } from "everstep";
import { createGate } from "everstep/testing";
import { expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";

const hostile = () =>
  new Proxy(
    {},
    {
      getPrototypeOf() {
        throw new Error("no prototype for you");
      },
      get() {
        throw new Error("no property for you");
      },
    },
  );

const failing = (thrown: () => unknown, retries: object, options: object = {}) =>
  defineWorkflow({ name: "failing", ...options }, async (_event, step) =>
    step.do("a", { retries }, async () => {
      throw thrown();
    }),
  );

onEachStore("odd author code", (tell) => {
  test.each([
    ["without a prototype, and a delay function", () => Object.create(null), { limit: 1, delay: () => 0 }],
    ["that throws when it is looked at", hostile, { limit: 1, delay: 0 }],
    ["that throws when it is looked at, and a delay function", hostile, { limit: 1, delay: () => 0 }],
  ])("a step that throws a value %s fails after its retries", async (_what, thrown, retries) => {
    const story = tell({ FAILING: failing(thrown, retries) });
    await story.workflows.FAILING.create({ id: "i" });
    await story.runUntilIdle();
    expect(await story.status("i")).toMatchObject({ status: "errored" });
    expect((await story.history("i")).steps[0]).toMatchObject({ attempts: 2 });
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -5, 1.5, "soon"])(
    "a classifier that wants the next attempt after %s has it recorded, and the step comes to its end",
    async (retryAfterMs) => {
      const classify = () => ({ kind: "transient", retryAfterMs }) as never;
      const story = tell({ FAILING: failing(() => new Error("no"), { limit: 1, delay: 0 }, { classify }) });
      await story.workflows.FAILING.create({ id: "i" });
      await story.runUntilIdle();
      await story.advance("1 second");
      expect(await story.status("i")).toMatchObject({ status: "errored", error: { message: "no" } });
      expect((await story.history("i")).steps[0]).toMatchObject({ attempts: 2, starts: 2 });
    },
  );

  test("a classifier whose answer throws when it is read has no say", async () => {
    const classify = () => hostile() as never;
    const story = tell({ FAILING: failing(() => new Error("no"), { limit: 1, delay: 0 }, { classify }) });
    await story.workflows.FAILING.create({ id: "i" });
    await story.runUntilIdle();
    expect(await story.status("i")).toMatchObject({ status: "errored", error: { message: "no" } });
  });

  test("a retry further away than any date can be read, and so can its neighbours", async () => {
    const far = defineWorkflow({ name: "far" }, async (_event, step) =>
      step.do(
        "a",
        { retries: { limit: 5, delay: 1000, backoff: "exponential" }, backoffRate: 1e15 },
        async () => {
          throw new Error("no");
        },
      ),
    );
    const story = tell({ FAR: far });
    const instance = await story.workflows.FAR.create({ id: "i" });
    await story.runUntilIdle();
    await story.advance("1 minute");
    expect((await instance.details()).dueAt?.getTime()).toBe(8.64e15);
    expect((await story.workflows.FAR.list()).items).toHaveLength(1);
  });

  test("a time outside the calendar is refused before anything is written", async () => {
    const story = tell({ EASY: defineWorkflow({ name: "easy" }, async () => 1) });
    for (const options of [
      { startAt: 1e16 },
      { deadline: 1e16 },
      { deadline: -1e16 },
      { startAt: 8.65e15 },
    ]) {
      await expect(story.workflows.EASY.create({ id: "i", ...options })).rejects.toMatchObject({
        code: "INVALID_ARGUMENT",
      });
    }
    expect((await story.workflows.EASY.list()).items).toEqual([]);
  });

  test("what onConsume does to its event is not what the wait received", async () => {
    const received = defineWorkflow({ name: "received" }, async (_event, step) => {
      const onConsume = (event: { payload: Record<string, unknown> }) => {
        event.payload.n = 2;
        event.payload.later = () => {};
      };
      return (await step.waitForEvent("w", { type: "t", onConsume })).payload;
    });
    const story = tell({ RECEIVED: received });
    await story.workflows.RECEIVED.create({ id: "i" });
    await story.runUntilIdle();
    await story.sendEvent("i", { type: "t", payload: { n: 1 } });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: { n: 1 } });
  });

  test("a step that onConsume left running is told to stop when the hook is over", async () => {
    const gate = createGate();
    let aborted = false;
    const leaving = defineWorkflow({ name: "leaving" }, async (_event, step) => {
      const onConsume = async () => {
        void step.do("inner", async ({ signal }) => {
          signal.addEventListener("abort", () => {
            aborted = true;
          });
          await gate.wait();
        });
        await new Promise((resolve) => setTimeout(resolve, 10));
      };
      await step.waitForEvent("w", { type: "t", onConsume });
      await step.sleep("s", "1 minute");
    });
    const story = tell({ LEAVING: leaving });
    await story.workflows.LEAVING.create({ id: "i" });
    await story.runUntilIdle();
    await story.sendEvent("i", { type: "t" });
    await story.runUntilIdle();
    await story.waitUntil(() => aborted);
    expect(await story.status("i")).toEqual({ status: "waiting" });
  });

  test("an output schema that breaks its own contract ends the run with an error", async () => {
    const output = {
      "~standard": { version: 1, vendor: "test", validate: () => ({ issues: 5 }) as never },
    } as const;
    const story = tell({ BROKEN: defineWorkflow({ name: "broken", output }, async () => 1) });
    await story.workflows.BROKEN.create({ id: "i" });
    await story.runUntilIdle();
    expect(await story.status("i")).toMatchObject({ status: "errored" });
  });

  test("what a body registers after it has returned is refused, and nothing comes of it", async () => {
    const wrote: string[] = [];
    const refused: unknown[] = [];
    let tooLate = (): void => {};
    const refusing = (act: () => void): void => {
      try {
        act();
      } catch (error) {
        refused.push((error as { code?: string }).code);
      }
    };
    const late = defineWorkflow({ name: "late" }, async (event, step) => {
      if (event.payload.isChild) return;
      await Promise.all([
        step.do("a", async ({ mutate }) => {
          mutate(() => {
            wrote.push("a");
            // The other body has returned by now, and its record waits for this commit.
            tooLate();
          });
        }),
        step.do("b", async (ctx) => {
          tooLate = () => {
            refusing(() => ctx.startWorkflow("late", { id: "child", params: { isChild: true } }));
            refusing(() => ctx.sendEvent({ workflow: "late", id: "i" }, { type: "t" }));
            refusing(() => ctx.mutate(() => void wrote.push("b")));
          };
        }),
      ]);
      return "done";
    });
    const story = tell({ LATE: late });
    await story.workflows.LATE.create({ id: "i" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: "done" });
    expect(wrote).toEqual(["a"]);
    expect(refused).toEqual(["STEP_INTERRUPTED", "STEP_INTERRUPTED", "STEP_INTERRUPTED"]);
    expect((await story.workflows.LATE.list()).items.map(({ id }) => id)).toEqual(["i"]);
    expect((await story.history("i")).events).toEqual([]);
  });
});
