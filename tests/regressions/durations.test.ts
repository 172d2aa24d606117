/** A number is milliseconds wherever it is written, text says its unit, and nothing drifts. */
import { createWorkflows, defineWorkflow } from "everstep";
import { createTestHarness, memory } from "everstep/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { recordOf } from "../scenarios/early-wake.ts";
import { durationOptions } from "./duration-options.ts";
import { onEachData } from "./each-data.ts";
import { quiet } from "./quiet.ts";

const second = 1000;
const hour = 60 * 60 * second;

describe("R-056 a number is milliseconds and text carries its unit", () => {
  test.each(Object.entries(durationOptions))("%s", async (_option, measure) => {
    // Within every option's limits: a wait lasts a second at least.
    const ms = fc.integer({ min: second, max: hour });
    const property = fc.asyncProperty(ms, async (n) => {
      expect(await measure(n), "as a number").toBe(n);
      expect(await measure(`${n} ms`), "in milliseconds").toBe(n);
      expect(await measure(`${n / second} seconds`), "in seconds").toBe(n);
      expect(await measure(`${n / hour}h`), "in hours").toBeLessThanOrEqual(n + 1);
    });
    await fc.assert(property, { numRuns: 5, seed: 56 });
  });

  test("the two options that count otherwise say so in their names", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("no", { intervalSeconds: 5, timeoutSeconds: 7 }, async () => {
        throw new Error("no");
      }),
    );
    const story = createTestHarness({ workflows: { W: workflow } });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect((await recordOf(story, "i")).dueAt).toBe(story.runtime.now() + 5 * second);
    expect((await story.history("i")).steps[0]).toMatchObject({ timeoutMs: 7 * second });
    await story.stop();
  });
});

describe("R-054 what is no duration is refused as one", () => {
  const refused = [Number.NaN, Number.POSITIVE_INFINITY, -1, "", "10 parsecs", 1e20, 10n, "-1 second", {}];
  test.each(Object.entries(durationOptions))("%s", async (option, measure) => {
    for (const duration of refused) {
      const measuring = Promise.resolve().then(() => measure(duration as number));
      if (option === "what a delay function answers") {
        // There is no delay left to trust: the step fails with its own error, at once.
        await expect(measuring, String(duration)).rejects.toMatchObject({ message: "no" });
      } else {
        await expect(measuring, String(duration)).rejects.toMatchObject({ code: "INVALID_DURATION" });
      }
    }
  });
});

describe("R-047 times longer than a native timer takes", () => {
  test("set no such timer: nothing is early, and the host has no warning to give", async () => {
    const warnings: string[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning.name);
    process.on("warning", onWarning);
    const fired: string[] = [];
    const long = "60 days";
    const workflow = defineWorkflow(
      { name: "w", maxRunDuration: "90 days", maxSuspendDuration: "90 days" },
      async (_event, step) => {
        await step.do(
          "quick",
          { timeout: long, retries: { limit: 1, delay: long } },
          async ({ attempt, signal }) => {
            signal.addEventListener("abort", () => fired.push("timeout"));
            if (attempt === 1) throw new Error("again in two months");
          },
        );
        fired.push("retry");
      },
    );
    const waiting = defineWorkflow({ name: "waiting" }, async (_event, step) => {
      await Promise.race([
        step.sleep("nap", long),
        step.waitForEvent("note", { type: "note", timeout: long }),
        step.do("held", { timeout: long }, ({ signal }) => {
          return new Promise((resolve) => signal.addEventListener("abort", resolve));
        }),
      ]);
      fired.push("wait");
    });
    const app = createWorkflows({
      workflows: { W: workflow, WAITING: waiting },
      store: memory(),
      runner: { lease: long, poll: long, minPoll: long, maxPoll: long },
      ...quiet(),
    });
    await app.start();
    const deadline = Date.now() + 90 * 24 * hour;
    const instance = await app.workflows.W.create({ id: "i", deadline });
    await app.workflows.WAITING.create({ id: "j", retention: long });
    await app.workflows.W.create({ id: "later", startAt: deadline });
    void instance.result({ timeout: long }).then(
      () => fired.push("result"),
      () => {},
    );
    // A timer that overflows fires in the next millisecond.
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(fired).toEqual([]);
    expect(await app.counts()).toMatchObject({ waiting: 1, active: 2 });
    expect(warnings).toEqual([]);
    process.off("warning", onWarning);
    await app.stop({ grace: 0 });
  });
});

onEachData("chains of sleeps", {}, (take, store) => {
  const count = store === "memory" || store === "sqlite" ? 1000 : 200;

  test(`R-055 a chain of ${count} sleeps of a second ends after exactly as many seconds, each one at its time`, async () => {
    const wokeAt: number[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      for (let n = 0; n < count; n++) {
        await step.sleep(`nap ${n}`, "1 second");
        if (wokeAt.length === n) wokeAt.push(story.runtime.now());
      }
    });
    const story = createTestHarness({ workflows: { W: workflow }, store: take().open, autoRun: true });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "i" });
    await story.advance(count * second);
    expect((await story.status("i")).status).toBe("complete");
    expect(wokeAt).toEqual(Array.from({ length: count }, (_, n) => start + (n + 1) * second));
    await story.stop();
  });

  test("R-055 whoever wakes late is late by that much, and never early, also with processes that come and go", async () => {
    const wokeAt: number[] = [];
    const naps = 20;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      for (let n = 0; n < naps; n++) {
        await step.sleep(`nap ${n}`, "1 second");
        if (wokeAt.length === n) wokeAt.push(story.runtime.now());
      }
    });
    const story = createTestHarness({ workflows: { W: workflow }, store: take().open });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "i" });
    for (let look = 0; wokeAt.length < naps; look++) {
      if (look % 3 === 0) await story.restartRunner();
      await story.runUntilIdle();
      await story.clock.advance(700);
      expect(look).toBeLessThan(3 * naps);
    }
    for (const [n, at] of wokeAt.entries()) {
      const before = wokeAt[n - 1] ?? start;
      expect(at - before).toBeGreaterThanOrEqual(second);
      expect(at - before).toBeLessThanOrEqual(second + 700);
    }
    await story.stop();
  });
});
