/** A body that must not repeat (`ifInterrupted: "fail"`) starts at most once without a record, wherever it is cut off. */
import { defineWorkflow, type WorkflowStep } from "everstep";
import { createGate } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";

/** What the body waits for when it is cut off. */
const positions: readonly [string, (step: WorkflowStep) => Promise<unknown>][] = [
  ["a sleep inside", (step) => step.sleep("rest", "1 hour")],
  ["an event inside", (step) => step.waitForEvent("word", { type: "word", timeout: "1 hour" })],
  [
    "the retry of a step inside",
    (step) =>
      step.do("flaky", { retries: { limit: 3, delay: "1 hour" } }, async () => {
        throw new Error("not yet");
      }),
  ],
  ["a step inside", (step) => step.do("long", { timeout: "1 day" }, () => createGate().wait())],
  ["nothing of the engine", () => createGate().wait()],
];

onEachStore("at most one start", (tell) => {
  describe.each(positions)("of a body that waits for %s", (_title, wait) => {
    const begin = async () => {
      let starts = 0;
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
        step.do("order by fax", { ifInterrupted: "fail", timeout: "1 day" }, async () => {
          starts++;
          await wait(step);
        }),
      );
      const story = tell({ W: workflow });
      const instance = await story.workflows.W.create({ id: "i" });
      const a = story.runner("a");
      await a.start();
      await story.settle();
      expect(starts).toBe(1);
      /** Somebody else goes on with it for a day. */
      const rest = async (): Promise<void> => {
        await story.advance("1 day");
        expect(starts).toBe(1);
        expect(await instance.status()).toMatchObject({
          status: "errored",
          error: { code: "STEP_INTERRUPTED" },
        });
      };
      return { story, instance, a, rest };
    };

    test("INV-9 when its process stops", async () => {
      const { story, a, rest } = await begin();
      const stopping = a.stop({ grace: 100 });
      await story.clock.advance(100);
      await stopping;
      await rest();
    });

    test("INV-9 when its process dies", async () => {
      const { story, a, rest } = await begin();
      a.kill();
      await story.clock.advance("1 minute");
      await rest();
    });

    test("INV-9 when it is paused, its process stops, and it is resumed", async () => {
      const { story, instance, a, rest } = await begin();
      await instance.pause();
      await story.clock.advance("15 seconds");
      const stopping = a.stop({ grace: 100 });
      await story.clock.advance(100);
      await stopping;
      await instance.resume();
      await rest();
    });
  });

  test("INV-9 a body that a pause gives up is not begun again by the process that began it", async () => {
    let starts = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("order by fax", { ifInterrupted: "fail", timeout: "1 day" }, async () => {
        starts++;
        await step.sleep("rest", "5 minutes");
      }),
    );
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    const a = story.runner("a");
    await a.start();
    await story.settle();
    await instance.pause();
    await story.clock.advance("1 minute");
    await instance.resume();
    await story.clock.advance("10 minutes");
    expect(starts).toBe(1);
    expect((await instance.status()).status).toBe("errored");
  });
});
