import { describe, expect, test } from "vitest";
import { completed, waiting } from "../../../../tests/support/sample-records.ts";
import { type Story, stagesOn } from "../../../../tests/support/turn-stage.ts";
import type { WorkflowStep } from "../authoring/workflow-step.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);
const day = 24 * 60 * 60 * 1000;

/** The same run under code or limits that came later. */
function continued(stage: ReturnType<typeof stageOf>, story: Story, limits: object = {}) {
  const later = stageOf(story, { limits, timeout: "1 second" });
  later.remember(...stage.steps);
  return later;
}

const complete = { kind: "ended", next: { kind: "complete" } };

describe("history wins over arguments that would be refused today", () => {
  const napping: Story = (step) => step.sleep("nap", "60 days").then(() => step.do("after", async () => 1));

  test("a sleep that is over, after the limit was lowered", async () => {
    const stage = stageOf((step) => step.sleep("nap", "60 days").then(() => step.sleep("more", "1 day")));
    await stage.play();
    await stage.runtime.advance(60 * day);
    await stage.resume();
    const later = continued(stage, napping, { maxSleep: 30 * day });
    expect(await later.play()).toMatchObject(complete);
  });

  test("a sleep that is not over goes on as it was recorded", async () => {
    const stage = stageOf(napping);
    await stage.play();
    const later = continued(stage, napping, { maxSleep: 30 * day });
    expect(await later.play()).toMatchObject({ kind: "suspended", dueAt: stage.runtime.now() + 60 * day });
  });

  test("a sleep whose length was computed from a clock, and is below zero when it is replayed", async () => {
    const story = (length: number) => (step: WorkflowStep) => step.sleep("nap", length);
    const stage = stageOf(story(1000));
    await stage.play();
    expect(await continued(stage, story(-5000)).play()).toMatchObject({ kind: "suspended" });
  });

  test("sleepUntil at the limit, replayed by a slower clock", async () => {
    const stage = stageOf((step) => step.sleepUntil("far", stage.runtime.now() + 365 * day));
    const until = stage.runtime.now() + 365 * day;
    await stage.play();
    const later = continued(stage, (step) => step.sleepUntil("far", until + 5));
    expect(await later.play()).toMatchObject({ kind: "suspended", dueAt: until });
  });

  test("a wait whose timeout and type are too long by now", async () => {
    const story: Story = (step) =>
      step.waitForEvent("approval", { type: "approved-by-the-board", timeout: "60 days" });
    const stage = stageOf(story);
    await stage.play();
    const later = continued(stage, story, { maxWaitTimeout: day, maxEventTypeLength: 5 });
    later.accept({ type: "approved-by-the-board", payload: "yes" });
    expect(await later.play()).toMatchObject(complete);
  });

  test("a step whose name and timeout are too long by now", async () => {
    const story: Story = (step) =>
      step
        .do("a name of some length", { timeout: "1 hour" }, async () => 1)
        .then(() => step.sleep("nap", "1 day"));
    const stage = stageOf(story);
    await stage.play();
    const later = continued(stage, story, { maxStepNameLength: 10, maxStepTimeout: 1000 });
    expect(await later.play()).toMatchObject({ kind: "suspended" });
  });

  describe("a name with control characters that was accepted once", () => {
    const name = "charge\u007f\u0085x";
    const story: Story = (step) => step.do(name, async () => "now");

    test("of a step that is done", async () => {
      const stage = stageOf(story);
      stage.remember(completed({ key: name, name, result: { json: '"then"', marks: null } }));
      expect(await stage.play()).toMatchObject({ next: { kind: "complete", output: { json: '"then"' } } });
    });

    test("of a step that is to be tried again", async () => {
      const stage = stageOf(story);
      stage.remember(waiting({ key: name, name, type: "do", attempts: 1, wakeAt: 0 }));
      expect(await stage.play()).toMatchObject({ next: { kind: "complete", output: { json: '"now"' } } });
    });

    test("of a step that is new is refused", async () => {
      expect(await stageOf(story).play()).toMatchObject({
        next: { kind: "error", error: { code: "INVALID_STEP_NAME" } },
      });
    });
  });

  test("what is new is refused as ever", async () => {
    const stage = stageOf((step) => step.sleep("nap", "60 days"), { limits: { maxSleep: 30 * day } });
    expect(await stage.play()).toMatchObject({
      next: { kind: "error", error: { code: "INVALID_DURATION" } },
    });
    expect(stage.steps).toEqual([]);
  });

  test("a step that has to run again is refused: what it says now is needed", async () => {
    const story: Story = (step) =>
      step.do("flaky", { timeout: "1 hour" }, () => Promise.reject(new Error("no")));
    const stage = stageOf(story);
    await stage.play();
    expect(stage.step("flaky").status).toBe("waiting");
    const later = continued(stage, story, { maxStepTimeout: 1000 });
    expect(await later.play()).toMatchObject({
      next: { kind: "error", error: { code: "INVALID_DURATION" } },
    });
  });
});
