/** Nothing happens before its time, however often it is called for and however short the time is. */
import { createWorkflows, defineWorkflow, type WorkflowDefinition } from "everstep";
import { describe, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";
import { recordOf, wakeEarly } from "../scenarios/early-wake.ts";
import { onEachData } from "./each-data.ts";
import { quiet } from "./quiet.ts";

const short = [
  ["1 ms", 1, 1],
  ["499 ms", 499, 499],
  ["999.5 ms", 999.5, 1000],
  ["0.5 seconds", "0.5 seconds", 500],
] as const;

onEachStore("early and short", (tell) => {
  describe("R-050 a wake that comes a second early, and five times", () => {
    const started: string[] = [];
    const waits: Record<string, WorkflowDefinition["run"]> = {
      "a sleep": async (_event, step) => step.sleep("wait", "1 minute"),
      "a retry": async (_event, step) =>
        step.do("wait", { retries: { limit: 1, delay: "1 minute" } }, async ({ attempt }) => {
          started.push(`attempt ${attempt}`);
          if (attempt === 1) throw new Error("not yet");
        }),
      "a timeout": async (_event, step) => {
        await step.waitForEvent("wait", { type: "never", timeout: "1 minute" }).catch(() => {});
      },
    };

    test.each([
      ["a sleep", 0],
      ["a sleep", 1000],
      ["a retry", 0],
      ["a retry", 1000],
      ["a timeout", 0],
      ["a timeout", 1000],
    ])("ends %s at its time only, and uses up no attempt (%i residents)", async (what, maxResidents) => {
      started.length = 0;
      const workflow = defineWorkflow({ name: "w" }, async (event, step) => {
        await waits[what]?.(event, step);
        await step.do("after", async () => void started.push("after"));
      });
      const story = tell({ W: workflow }, { runner: { maxResidents } });
      await story.workflows.W.create({ id: "i" });
      await story.runUntilIdle();
      const before = [...started];
      const { dueAt } = await recordOf(story, "i");
      expect(dueAt).toBe(story.runtime.now() + 60_000);
      await story.clock.advance("59 seconds");
      for (let n = 0; n < 5; n++) {
        expect(await wakeEarly(story, "i")).toBe("woken");
        for (const name of ["a", "b"]) await story.runner(name).tick();
        expect(started).toEqual(before);
        expect(await recordOf(story, "i")).toMatchObject({ status: "waiting", dueAt, crashCount: 0 });
      }
      await story.clock.advance("1 second");
      await story.runUntilIdle();
      expect(started).toEqual([...before, ...(what === "a retry" ? ["attempt 2"] : []), "after"]);
      const [step] = (await story.history("i")).steps;
      if (what === "a retry") expect(step).toMatchObject({ attempts: 2, starts: 2 });
      expect((await story.status("i")).status).toBe("complete");
    });
  });

  test.each(short)("R-051 a sleep of %s ends in the millisecond it is over", async (_title, duration, ms) => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => step.sleep("nap", duration));
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.advance(ms - 1);
    expect(await story.status("i")).toEqual({ status: "waiting" });
    await story.advance(1);
    expect((await story.status("i")).status).toBe("complete");
  });
});

onEachData("short sleeps by a real clock", {}, (take) => {
  test("R-051 are never early", async () => {
    const { open } = take();
    const slept = new Map<string, number>();
    const workflow = defineWorkflow({ name: "w" }, async (event, step) => {
      const before = await step.do("before", async () => performance.now());
      await step.sleep("nap", event.payload.duration);
      await step.do("after", async () => void slept.set(event.instanceId, performance.now() - before));
    });
    const app = createWorkflows({ workflows: { W: workflow }, store: open(), ...quiet() });
    await app.start();
    const instances = await Promise.all(
      short.map(([, duration], n) => app.workflows.W.create({ id: `i${n}`, params: { duration } })),
    );
    for (const instance of instances) {
      expect((await instance.result({ timeout: "60 seconds" })).status).toBe("complete");
    }
    // The clock that rules counts whole milliseconds, the one that measures does not.
    for (const [n, [title, , ms]] of short.entries())
      expect(slept.get(`i${n}`), title).toBeGreaterThan(ms - 1);
    await app.stop();
  });
});
