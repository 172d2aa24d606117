/** A store that is away for a while takes nothing with it: every loop goes on by itself. */
import { defineWorkflow } from "everstep";
import { createGate, storeFailure } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";
import { recordOf } from "../scenarios/early-wake.ts";

onEachStore("outages", (tell) => {
  describe("R-029 (LIV-3) ten minutes without a store", () => {
    test.each(["refuses every call", "answers no call"])(
      "that %s: claims, timers, retries, events and renewals go on within half a minute of its return",
      async (how) => {
        const gate = createGate();
        const started: string[] = [];
        const workflow = defineWorkflow<{ what: string }>(
          { name: "w" },
          async ({ payload: { what }, instanceId }, step) => {
            if (what === "sleep") await step.sleep("nap", "1 minute");
            if (what === "event") await step.waitForEvent("note", { type: "note" });
            await step.do(
              "work",
              { timeout: "1 day", retries: { limit: 1, delay: "1 minute" } },
              async ({ attempt }) => {
                started.push(`${instanceId} ${attempt}`);
                if (what === "retry" && attempt === 1) throw new Error("not yet");
                if (what === "long") await gate.wait();
              },
            );
          },
        );
        const story = tell({ W: workflow }, { onProblem: () => {} });
        const loop = story.runner("loop");
        await loop.start();
        for (const what of ["sleep", "event", "retry"])
          await loop.workflows.W.create({ id: what, params: { what } });
        await story.settle();
        expect(started).toEqual(["retry 1"]);

        let isAway = true;
        loop.faults.plan(({ method }) => {
          if (!isAway || method === "close") return null;
          if (how === "refuses every call") return () => Promise.reject(storeFailure("unavailable"));
          // A driver gives up on its own after some time; what it had asked may have happened.
          return () =>
            new Promise((_resolve, reject) => {
              story.runtime.timer(() => reject(storeFailure("ambiguous")), 5000);
            });
        });
        await story.workflows.W.create({ id: "new", params: { what: "new" } });
        await story.sendEvent("event", { type: "note" });
        await story.clock.advance("10 minutes");
        expect(started).toEqual(["retry 1"]);
        isAway = false;
        await story.clock.advance("30 seconds");
        expect(started.slice(1).toSorted()).toEqual(["event 1", "new 1", "retry 2", "sleep 1"]);
        expect(await story.app.counts()).toMatchObject({ complete: 4, active: 0, waiting: 0 });

        // The heartbeat, too: a body of many leases is left to whoever has it.
        await story.workflows.W.create({ id: "long", params: { what: "long" } });
        await story.clock.advance("30 seconds");
        for (let n = 0; n < 10; n++) {
          await story.clock.advance("1 minute");
          expect(await story.runner("other").tick()).toBe(0);
        }
        expect(await recordOf(story, "long")).toMatchObject({ executing: true, crashCount: 0 });
        await gate.open();
        await story.clock.advance("1 second");
        expect((await story.status("long")).status).toBe("complete");
        expect(started.filter((start) => start.startsWith("long"))).toEqual(["long 1"]);
      },
    );
  });
});
