/** Pause, restart, ticks and crashes beside turns that a body holds open. */
import { defineWorkflow } from "everstep";
import { createGate, storeFailure } from "everstep/testing";
import { expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";

onEachStore("steering", (tell) => {
  const tellRetry = () => {
    const gate = createGate();
    const starts: number[] = [];
    const retrying = defineWorkflow({ name: "retrying" }, async (_event, step) => {
      await Promise.all([
        step.do("long", () => gate.wait()),
        step.do("flaky", { retries: { limit: 1, delay: "5 seconds" } }, async ({ attempt }) => {
          starts.push(attempt);
          if (attempt === 1) throw new Error("no");
        }),
      ]);
    });
    return { story: tell({ RETRYING: retrying }), gate, starts };
  };

  test("no retry starts once the instance is paused, although a body holds its turn open", async () => {
    const { story, gate, starts } = tellRetry();
    const instance = await story.workflows.RETRYING.create({ id: "i" });
    await story.tick();
    await instance.pause();
    await story.clock.advance("6 seconds");
    expect(starts).toEqual([1]);
    await gate.open();
    await story.advance("1 minute");
    expect(starts).toEqual([1]);
    await instance.resume();
    await story.runUntilIdle();
    expect(starts).toEqual([1, 2]);
    expect(await instance.status()).toMatchObject({ status: "complete" });
  });

  test("paused and resumed at once, the retry starts in its time beside the body that holds the turn", async () => {
    const { story, gate, starts } = tellRetry();
    const instance = await story.workflows.RETRYING.create({ id: "i" });
    await story.tick();
    await instance.pause();
    await instance.resume();
    await story.clock.advance("6 seconds");
    expect(starts).toEqual([1, 2]);
    await gate.open();
    await story.runUntilIdle();
    expect(await instance.status()).toMatchObject({ status: "complete" });
  });

  test("restartOrCreate tells the body of the old run to stop", async () => {
    const gate = createGate();
    let aborted = 0;
    const long = defineWorkflow({ name: "long" }, async (_event, step) => {
      await step.do("long", async ({ signal }) => {
        signal.addEventListener("abort", () => aborted++);
        await gate.wait();
      });
    });
    const story = tell({ LONG: long });
    await story.workflows.LONG.create({ id: "i" });
    await story.tick();
    await story.runner("main").workflows.LONG.restartOrCreate({ id: "i" });
    await story.settle();
    expect(aborted).toBe(1);
  });

  test("a tick of one step makes progress although the step has steps inside", async () => {
    const outer = defineWorkflow({ name: "outer" }, async (_event, step) =>
      step.do("outer", async () => {
        const a = await step.do("a", async () => 1);
        return a + (await step.do("b", async () => 2));
      }),
    );
    const story = tell({ OUTER: outer });
    await story.workflows.OUTER.create({ id: "i" });
    for (let n = 0; n < 5; n++) await story.tick({ maxSteps: 1 });
    expect(await story.status("i")).toEqual({ status: "complete", output: 3 });
  });

  test("waits that are over complete in the order of their times after a crash too", async () => {
    const racing = defineWorkflow({ name: "racing" }, async (_event, step) =>
      Promise.race([
        step.sleep("late", "10 seconds").then(() => "late"),
        step.sleep("early", "5 seconds").then(() => "early"),
      ]),
    );
    const story = tell({ RACING: racing });
    await story.workflows.RACING.create({ id: "i" });
    await story.tick();
    await story.restartRunner("main");
    await story.clock.advance("1 minute");
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: "early" });
  });

  test("the same wait takes an event whether its turn is in memory or replayed", async () => {
    const waiting = defineWorkflow({ name: "waiting" }, async (_event, step) => {
      const wait = (name: string, timeout: string) => step.waitForEvent(name, { type: "t", timeout });
      await Promise.all([wait("long", "10 minutes"), wait("short", "5 minutes")]);
    });
    const story = tell({ WAITING: waiting });
    for (const id of ["kept", "replayed"]) {
      await story.workflows.WAITING.create({ id });
      await story.runUntilIdle();
      if (id === "replayed") await story.restartRunner("main");
      await story.sendEvent(id, { type: "t" });
      await story.runUntilIdle();
    }
    expect(await story.steps("replayed")).toEqual(await story.steps("kept"));
  });

  test("a timeout that was refused for an event which cannot be read is not tried again and again", async () => {
    const gate = createGate();
    const waiting = defineWorkflow({ name: "waiting" }, async (_event, step) => {
      const [, event] = await Promise.all([
        step.do("long", () => gate.wait()),
        step.waitForEvent("w", { type: "t", timeout: "1 second" }),
      ]);
      return event.payload;
    });
    const story = tell({ WAITING: waiting });
    const main = story.runner("main");
    await main.workflows.WAITING.create({ id: "i" });
    await main.tick();
    let writes = 0;
    let isDown = true;
    main.faults.plan(({ method }) => {
      if (method === "write") writes++;
      return method === "readRuns" && isDown ? () => Promise.reject(storeFailure("unavailable")) : null;
    });
    const elsewhere = await story.runner("other").workflows.WAITING.get("i");
    await elsewhere.sendEvent({ type: "t", payload: "there" });
    await story.clock.advance("10 seconds");
    expect(writes).toBeLessThan(100);
    isDown = false;
    await story.clock.advance("10 seconds");
    await gate.open();
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: "there" });
  });
});
