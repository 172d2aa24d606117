/** Calls that nobody awaits, or that end after the run has: contained, the same every time, and said once. */
import { defineWorkflow, type WorkflowStep } from "everstep";
import { createGate, type Gate } from "everstep/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";
import { recordOf } from "../scenarios/early-wake.ts";

const strays: unknown[] = [];
const onStray = (error: unknown): void => void strays.push(error);
beforeEach(() => {
  strays.length = 0;
  process.on("unhandledRejection", onStray);
});
afterEach(() => {
  process.off("unhandledRejection", onStray);
});

const retries = false;
const fail = async (): Promise<never> => {
  throw new Error("nobody hears this");
};

const dangling: Record<string, (step: WorkflowStep, gate: Gate) => unknown> = {
  "a step that fails": (step) => void step.do("dangling", { retries }, fail),
  "a step that is still at it when the run ends": (step, gate) => void step.do("dangling", () => gate.wait()),
  "a step that fails after the run has ended": (step, gate) =>
    void step.do("dangling", { retries }, async () => {
      await gate.wait();
      throw new Error("too late");
    }),
  "a wait for an event": (step) => void step.waitForEvent("dangling", { type: "note", timeout: "1 second" }),
  "a sleep": (step) => void step.sleep("dangling", "1 hour"),
  "a sleep that is none": (step) => void step.sleep("dangling", "soon"),
  "a step without a name": (step) => void step.do("", async () => 1),
  "a chain that goes on after a step": (step) => void step.do("dangling", async () => 1).then(fail),
};

onEachStore("dangling calls", (tell) => {
  test.each(Object.entries(dangling))(
    "R-045 (INV-20) %s, which nobody awaits: the run ends as if it were not there, and nothing is written afterwards",
    async (_title, dangle) => {
      const outcomes: unknown[] = [];
      // In one process, and with another one that replays it.
      for (const isReplayed of [false, true]) {
        const gate = createGate();
        const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
          await step.do("before", async () => "before");
          dangle(step, gate);
          const kept = await step.do("kept", async () => "kept");
          await step.sleep("nap", "1 minute");
          return kept;
        });
        const story = tell({ W: workflow }, { runner: { maxResidents: isReplayed ? 0 : 1000 } });
        await story.workflows.W.create({ id: "i" });
        await story.runUntilIdle();
        if (isReplayed && gate.arrivals === 0) await story.restartRunner();
        // A body in flight keeps its turn; it goes on when that has ended, or its run with it.
        await story.advance("2 minutes");
        await gate.open();
        await story.advance("2 minutes");
        outcomes.push(await story.status("i"));
        const ended = [await recordOf(story, "i"), await story.history("i"), await story.logs("i")];
        await story.advance("2 hours");
        expect([await recordOf(story, "i"), await story.history("i"), await story.logs("i")]).toEqual(ended);
        expect(story.problems).toEqual([]);
      }
      expect(outcomes).toEqual(outcomes.map(() => ({ status: "complete", output: "kept" })));
      expect(strays.filter((error) => !String(error).includes("nobody hears this"))).toEqual([]);
    },
  );
});
