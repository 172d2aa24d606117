import { describe, expect, test } from "vitest";
import { held, stagesOn } from "../../../../tests/support/turn-stage.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);
const minute = 60_000;
const hour = 60 * minute;
const once = { retries: false } as const;

describe("time limits", () => {
  test("a deadline that has passed at the claim ends the run without running a step", async () => {
    let ran = false;
    const stage = stageOf((step) =>
      step.do("a", async () => {
        ran = true;
      }),
    );
    await stage.play({ deadlineAt: stage.runtime.now() });
    expect(ran).toBe(false);
    expect(stage.last.next).toMatchObject({ kind: "terminate", reason: { source: "deadline" } });
  });

  test("a deadline cuts off a body in flight", async () => {
    let signal: AbortSignal | undefined;
    const stage = stageOf((step) =>
      step.do("slow", { timeout: "1 hour" }, (context) => {
        signal = context.signal;
        return new Promise(() => {});
      }),
    );
    await stage.play({ deadlineAt: stage.runtime.now() + minute });
    await stage.runtime.advance(minute);
    expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "terminate" } });
    expect(signal?.aborted).toBe(true);
  });

  test("a deadline makes a sleeping run due in time", async () => {
    const stage = stageOf((step) => step.sleep("nap", "1 hour"));
    const deadlineAt = stage.runtime.now() + minute;
    expect(await stage.play({ deadlineAt })).toEqual({ kind: "suspended", dueAt: deadlineAt });
  });

  test("maxRunDuration counts from the first start", async () => {
    const stage = stageOf((step) => step.sleep("nap", "1 hour"), { maxRunDuration: "10 minutes" });
    const startedAt = stage.runtime.now();
    expect(await stage.play({ startedAt })).toEqual({ kind: "suspended", dueAt: startedAt + 10 * minute });
    await stage.runtime.advance(10 * minute);
    await stage.play({ startedAt });
    expect(stage.last.next).toMatchObject({ kind: "terminate", reason: { source: "maxRunDuration" } });
  });

  test("a retry that would come too late is not waited for", async () => {
    const stage = stageOf((step) =>
      step.do("flaky", { retries: { delay: "1 hour" } }, async () => {
        throw new Error("down");
      }),
    );
    await stage.play({ deadlineAt: stage.runtime.now() + minute });
    expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "terminate" } });
    expect(stage.step("flaky")).toMatchObject({ status: "waiting", attempts: 1 });
  });

  test("maxSuspendDuration ends a run that was suspended without a break", async () => {
    const stage = stageOf((step) => step.sleep("nap", "1 hour"), { maxSuspendDuration: "10 minutes" });
    const waitingSince = stage.runtime.now();
    expect(await stage.play()).toEqual({ kind: "suspended", dueAt: waitingSince + 10 * minute });
    await stage.runtime.advance(10 * minute);
    await stage.play({ waitingSince });
    expect(stage.last.next).toMatchObject({ kind: "terminate", reason: { source: "maxSuspendDuration" } });
  });

  test("maxSuspendDuration begins again when something came of the turn", async () => {
    const stage = stageOf(
      async (step) => {
        await step.sleep("short", "10 minutes");
        await step.sleep("next", "10 minutes");
      },
      { maxSuspendDuration: "10 minutes" },
    );
    const waitingSince = stage.runtime.now();
    await stage.play();
    await stage.runtime.advance(10 * minute);
    expect(await stage.play({ waitingSince })).toMatchObject({ kind: "suspended" });
  });
});

describe("a function that is stuck", () => {
  test("fails with WORKFLOW_STALLED when nothing is open and nothing waits", async () => {
    const stage = stageOf(() => new Promise(() => {}));
    await stage.play();
    await stage.runtime.advance(10 * minute - 1);
    expect(stage.ending).toBeUndefined();
    await stage.runtime.advance(1);
    expect(stage.ending).toMatchObject({ next: { kind: "error", error: { code: "WORKFLOW_STALLED" } } });
  });

  test("is left alone while a step is open, however long", async () => {
    const body = held();
    const stage = stageOf((step) => step.do("slow", { timeout: "1 day" }, () => body.promise));
    await stage.play();
    await stage.runtime.advance(hour);
    expect(stage.ending).toBeUndefined();
    body.resolve(1);
    await stage.runtime.settle();
    expect(stage.ending).toMatchObject({ next: { kind: "complete" } });
  });

  test("the time begins again with every step", async () => {
    const waits = [held(), held()];
    const stage = stageOf(async (step) => {
      await waits[0]?.promise;
      await step.do("a", async () => 1);
      await waits[1]?.promise;
      return "done";
    });
    await stage.play();
    await stage.runtime.advance(6 * minute);
    waits[0]?.resolve(1);
    await stage.runtime.advance(6 * minute);
    expect(stage.ending).toBeUndefined();
    waits[1]?.resolve(1);
    await stage.runtime.settle();
    expect(stage.ending).toMatchObject({ next: { kind: "complete" } });
  });

  test("calls that were left behind by an outer step do not hide it", async () => {
    const stage = stageOf(async (step) => {
      await step
        .do("outer", { timeout: "1 second", ...once }, async () => step.sleep("nap", "1 hour"))
        .catch(() => {});
      await new Promise(() => {});
    });
    await stage.play();
    await stage.runtime.advance(1000);
    await stage.runtime.advance(10 * minute);
    expect(stage.ending).toMatchObject({ next: { kind: "error", error: { code: "WORKFLOW_STALLED" } } });
  });
});
