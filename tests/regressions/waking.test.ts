/** Nothing waits for ever: events, retries and deaths reach the run they concern. */
import { defineWorkflow } from "everstep";
import { createGate } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";
import { recordOf } from "../scenarios/early-wake.ts";

const second = 1000;
const leaseMs = 30 * second;

onEachStore("waking", (tell) => {
  describe("R-020 an event ends one wait while another is being registered beside it", () => {
    const both = defineWorkflow({ name: "w" }, async (_event, step) => {
      const second = async () => {
        await step.do("between", async () => {});
        return (await step.waitForEvent<string>("b", { type: "b", timeout: "1 hour" })).payload;
      };
      const first = step.waitForEvent<string>("a", { type: "a", timeout: "1 hour" });
      const [a, b] = await Promise.all([first.then(({ payload }) => payload), second()]);
      return [a, b];
    });

    test.each([
      { place: "before", fate: "goes on" },
      { place: "after", fate: "goes on" },
      { place: "before", fate: "dies" },
      { place: "after", fate: "dies" },
    ] as const)("$place its commit, whose runner then $fate: the other survives", async ({ place, fate }) => {
      const story = tell({ W: both });
      await story.workflows.W.create({ id: "i" });
      const slow = story.runner("slow");
      const stop = slow[place === "before" ? "stopBefore" : "stopAfter"]("commit", { step: "b" });
      await slow.tick();
      expect(stop.isReached).toBe(true);
      await story.sendEvent("i", { type: "a", payload: "one" });
      if (fate === "goes on") await stop.continue();
      else slow.kill();
      await story.advance(leaseMs);
      expect(await story.steps("i")).toEqual(["a completed", "between completed", "b waiting"]);
      await story.sendEvent("i", { type: "b", payload: "two" });
      await story.runUntilIdle();
      expect(await story.status("i")).toEqual({ status: "complete", output: ["one", "two"] });
    });
  });

  test("R-022 a run keeps its lease while a body beside its wait is at work, and gives it back with its result", async () => {
    const gate = createGate();
    let starts = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const [note, work] = await Promise.all([
        step.waitForEvent<string>("note", { type: "note" }),
        step.do("slow", async () => {
          starts++;
          await gate.wait();
          return "work";
        }),
      ]);
      return [note.payload, work];
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runner("a").tick();
    for (let n = 0; n < 9; n++) {
      await story.clock.advance("10 seconds");
      expect(await story.runner("b").tick()).toBe(0);
      expect(await recordOf(story, "i")).toMatchObject({ executing: true });
    }
    await gate.open();
    expect(await recordOf(story, "i")).toMatchObject({ status: "waiting", executing: false });
    expect(await story.steps("i")).toEqual(["note waiting", "slow completed"]);
    await story.sendEvent("i", { type: "note", payload: "note" });
    await story.runner("b").tick();
    expect(await story.status("i")).toEqual({ status: "complete", output: ["note", "work"] });
    expect(starts).toBe(1);
  });

  test("R-023 (LIV-4) without a nudge, a due time or a living witness, retries begin within one poll of their time", async () => {
    const startedAt: number[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("flaky", { retries: { limit: 3, delay: "1 minute", backoff: "constant" } }, async () => {
        startedAt.push(story.runtime.now());
        if (startedAt.length < 4) throw new Error("not yet");
      });
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    for (let n = 1; n <= 3; n++) {
      // It knows nothing of the runs of those before it, and the store never tells it when to look.
      const poller = story.runner(`poller ${n}`);
      poller.faults.plan((call) => (call.method === "nextDueAt" ? async () => null : null));
      await poller.start();
      await story.clock.advance("2 minutes");
      poller.kill();
    }
    await story.advance("2 minutes");
    expect(startedAt).toHaveLength(4);
    for (const [n, time] of startedAt.slice(1).entries()) {
      const dueAt = startedAt[n]! + 60 * second;
      expect(time).toBeGreaterThanOrEqual(dueAt);
      expect(time - dueAt).toBeLessThanOrEqual(30 * second);
    }
  });

  describe("R-033 a process that dies in the last attempt a step has", () => {
    const dying = (ifInterrupted: "retry" | "fail") => {
      const gate = createGate();
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
        await step.do("last", { retries: false, ifInterrupted }, () => gate.wait());
      });
      return tell({ W: workflow });
    };

    test("leaves a step that must not run twice errored, with the reason", async () => {
      const story = dying("fail");
      await story.workflows.W.create({ id: "i" });
      const doomed = story.runner("doomed");
      await doomed.tick();
      doomed.kill();
      await story.advance("31 seconds");
      expect(await story.status("i")).toMatchObject({
        status: "errored",
        error: { code: "STEP_INTERRUPTED" },
      });
    });

    test("again and again leaves the run errored in the end, with the reason, as a dead letter", async () => {
      const story = dying("retry");
      const instance = await story.workflows.W.create({ id: "i" });
      for (let crash = 0; crash < 30 && (await instance.status()).status === "active"; crash++) {
        const doomed = story.runner(`doomed ${crash}`);
        await doomed.tick();
        doomed.kill();
        await story.clock.advance("6 minutes");
      }
      expect(await instance.details()).toMatchObject({
        status: "errored",
        error: { code: "CRASH_LOOP" },
        deadLetter: true,
      });
    });
  });
});
