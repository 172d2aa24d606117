import { describe, expect, test } from "vitest";
import { held, type Story, stagesOn, told } from "../../../../tests/support/turn-stage.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);
const minute = 60_000;
const hour = 60 * minute;

describe("pause", () => {
  test("the step in flight is recorded, nothing else starts, the lease is given back", async () => {
    const body = held();
    let next = false;
    const stage = stageOf(async (step) => {
      await step.do("first", async () => 1);
      await step.do("in flight", () => body.promise);
      await step.do("next", async () => {
        next = true;
      });
    });
    await stage.play();
    stage.answer = () => stage.paused();
    body.resolve(2);
    await stage.runtime.settle();
    expect(stage.ending).toEqual({ kind: "paused" });
    expect(next).toBe(false);
    expect(stage.boundaries.map(told)).toEqual([
      "first completed, continue",
      "in flight completed, continue",
      "yield",
    ]);
  });

  test("a step that is in flight when the answer comes is waited for and recorded", async () => {
    const [slow, quick] = [held(), held()];
    const stage = stageOf((step) =>
      Promise.all([step.do("slow", () => slow.promise), step.do("quick", () => quick.promise)]),
    );
    await stage.play();
    stage.answer = () => stage.paused();
    quick.resolve(1);
    await stage.runtime.settle();
    expect(stage.ending).toBeUndefined();
    slow.resolve(2);
    await stage.runtime.settle();
    expect(stage.boundaries.map(told)).toEqual(["quick completed, continue", "slow completed, yield"]);
    expect(stage.ending).toEqual({ kind: "paused" });
  });

  test("heard of with a renewal, it works the same", async () => {
    const body = held();
    const stage = stageOf(async (step) => {
      await step.do("in flight", () => body.promise);
      await step.do("next", async () => 1);
    });
    await stage.play();
    stage.turn.windDown();
    stage.answer = () => stage.paused();
    body.resolve(1);
    await stage.runtime.settle();
    expect(stage.boundaries.map(told)).toEqual(["in flight completed, yield"]);
    expect(stage.ending).toEqual({ kind: "paused" });
  });

  test.each<[string, Story]>([
    ["a suspension", (step) => step.sleep("nap", "1 hour")],
    ["a completion", () => 1],
    [
      "a failure",
      () => {
        throw new Error("down");
      },
    ],
  ])("%s that finds the run paused ends the turn as paused", async (_, run) => {
    const stage = stageOf(run);
    stage.answer = () => stage.paused();
    expect(await stage.play()).toEqual({ kind: "paused" });
  });

  test("resume replays to the same point", async () => {
    let runs = 0;
    const stage = stageOf(async (step) => {
      await step.do("a", async () => ++runs);
      return "done";
    });
    stage.answer = () => stage.paused();
    await stage.play();
    stage.answer = () => stage.committed();
    expect(await stage.play()).toMatchObject({ kind: "ended", next: { kind: "complete" } });
    expect(runs).toBe(1);
  });

  test("waits that are over are not decided while winding down", async () => {
    const body = held();
    const stage = stageOf((step) =>
      Promise.all([
        step.do("slow", { timeout: "2 hours" }, () => body.promise),
        step.waitForEvent("approval", { type: "approved", timeout: "1 hour" }),
      ]),
    );
    await stage.play();
    stage.turn.windDown();
    await stage.runtime.advance(hour);
    body.resolve(1);
    await stage.runtime.settle();
    expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "yield" } });
    expect(stage.step("approval").status).toBe("waiting");
  });

  test("an outer step that waits for inner ones does not hold the lease", async () => {
    const stage = stageOf((step) =>
      step.do("outer", async () => {
        await step.sleep("nap", "5 minutes");
      }),
    );
    await stage.play();
    stage.turn.windDown();
    await stage.runtime.settle();
    expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "yield" } });
  });
});

describe("shutdown and step budget", () => {
  test("a body that waits for an inner step is told before the lease is given back, not when that was answered", async () => {
    const signals: AbortSignal[] = [];
    const stage = stageOf((step) =>
      step.do("outer", async ({ signal }) => {
        signals.push(signal);
        await step.sleep("nap", "5 minutes");
      }),
    );
    await stage.play();
    await stage.resume({ waitingSince: stage.runtime.now() });
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    const atCommit: boolean[] = [];
    stage.answer = ({ boundary }) => {
      if (boundary.next.kind === "yield") atCommit.push(...signals.map(({ aborted }) => aborted));
      return stage.committed();
    };
    stage.turn.windDown();
    await stage.runtime.settle();
    expect(atCommit).toEqual([true]);
    expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "yield" } });
  });

  test("a turn that winds down yields: due again now, everything finished is recorded", async () => {
    const body = held();
    const stage = stageOf(async (step) => {
      await step.do("in flight", () => body.promise);
      await step.do("next", async () => 1);
    });
    await stage.play();
    stage.turn.windDown();
    body.resolve(1);
    await stage.runtime.settle();
    const next = { kind: "yield", dueAt: stage.runtime.now() };
    expect(stage.ending).toEqual({ kind: "ended", next });
    expect(stage.step("in flight").status).toBe("completed");
  });

  test("a used-up budget yields before the next body, and the next turn goes on", async () => {
    const ran: string[] = [];
    const stage = stageOf(async (step) => {
      for (const name of ["a", "b", "c"]) await step.do(name, async () => ran.push(name));
    });
    stage.stepBudget = 2;
    expect(await stage.play()).toMatchObject({ kind: "ended", next: { kind: "yield" } });
    expect(ran).toEqual(["a", "b"]);
    expect(stage.boundaries.map(told)).toEqual(["a completed, continue", "b completed, yield"]);
    stage.stepBudget = 10;
    expect(await stage.play()).toMatchObject({ kind: "ended", next: { kind: "complete" } });
    expect(ran).toEqual(["a", "b", "c"]);
  });
});
