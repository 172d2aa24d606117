import { describe, expect, test } from "vitest";
import { completed, waiting } from "../../../../tests/support/sample-records.ts";
import { type Story, stagesOn, told } from "../../../../tests/support/turn-stage.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);

/** A stage whose host only rehearses, and what its turn asked for. */
function rehearsalOf(story: Story) {
  const asked: string[] = [];
  const stage = Object.assign(stageOf(story), {
    rehearsal: { asked: ({ key }: { readonly key: string }) => void asked.push(key) },
  });
  return { stage, asked };
}

describe("a rehearsal", () => {
  test("answers from the record, leaves everything else open and records nothing", async () => {
    let ran = 0;
    const { stage, asked } = rehearsalOf(async (step) => {
      await step.do("known", async () => ++ran);
      await Promise.all([
        step.do("new", async () => ++ran),
        step.sleep("no time at all", 0),
        step.sleepUntil("long ago", 1),
        step.waitForEvent("event", { type: "there" }),
      ]);
    });
    stage.remember(completed({ key: "known" }));
    stage.accept({ type: "there" });
    expect(await stage.play()).toMatchObject({ kind: "suspended" });
    expect(asked).toEqual(["known", "new", "no time at all", "long ago", "event"]);
    expect(stage.boundaries.map(told)).toEqual(["suspend"]);
    expect(stage.last).toMatchObject({ consumed: [], begun: [] });
    expect(ran).toBe(0);
  });

  test("leaves a wait open that is over by now", async () => {
    const { stage } = rehearsalOf(async (step) => {
      await step.sleep("nap", "1 hour");
      await step.waitForEvent("answer", { type: "answer" });
    });
    stage.remember(waiting({ key: "nap", wakeAt: 1 }));
    expect(await stage.play()).toMatchObject({ kind: "suspended" });
    expect(stage.boundaries.map(told)).toEqual(["suspend"]);
  });

  test("leaves a step open whose retries are used up or due", async () => {
    const { stage, asked } = rehearsalOf((step) =>
      Promise.allSettled([step.do("used up", async () => {}), step.do("due", async () => {})]),
    );
    stage.remember(
      waiting({ key: "used up", type: "do", attempts: 6, maxAttempts: 6 }),
      waiting({ key: "due", type: "do", index: 1, wakeAt: 1 }),
    );
    expect(await stage.play()).toMatchObject({ kind: "suspended" });
    expect(asked).toEqual(["used up", "due"]);
  });

  test("hands recorded steps over in their recorded order", async () => {
    const { stage } = rehearsalOf((step) =>
      Promise.race([step.do("slow", async () => {}), step.do("fast", async () => {})]),
    );
    stage.remember(
      completed({ key: "slow", index: 0, settledIndex: 1 }),
      completed({ key: "fast", index: 1, settledIndex: 0 }),
    );
    expect(await stage.play()).toMatchObject({ next: { kind: "complete", output: { json: '"fast"' } } });
  });

  test("tells the code of a step that is recorded as another kind, as a turn does", async () => {
    const { stage } = rehearsalOf((step) => step.sleep("charge", "1 hour"));
    stage.remember(completed({ key: "charge" }));
    expect(await stage.play()).toMatchObject({
      next: { kind: "error", error: { code: "STEP_TYPE_MISMATCH" } },
    });
  });
});
