import { describe, expect, test } from "vitest";
import { held, stagesOn } from "../../../../tests/support/turn-stage.ts";
import { NonRetryableError } from "../authoring/errors.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);

describe("retries", () => {
  test("are written down from the moment of the failure", async () => {
    const body = held();
    const stage = stageOf((step) => step.do("slow", { timeout: "1 hour" }, () => body.promise));
    await stage.play();
    await stage.runtime.advance(5000);
    body.reject(new Error("down"));
    await stage.runtime.settle();
    expect(stage.ending).toEqual({ kind: "suspended", dueAt: stage.runtime.now() + 10_000 });
  });

  test("keep the time of the first start", async () => {
    const stage = stageOf((step) =>
      step.do("flaky", async ({ attempt }) => {
        if (attempt < 3) throw new Error("down");
      }),
    );
    const begunAt = stage.runtime.now();
    await stage.play();
    for (const delay of [10_000, 20_000]) {
      await stage.runtime.advance(delay);
      await stage.play();
    }
    expect(stage.step("flaky")).toMatchObject({ status: "completed", createdAt: begunAt, attempts: 3 });
  });

  test("a delay that is still being decided when the lease is lost decides nothing", async () => {
    const delay = held<string>();
    const stage = stageOf((step) =>
      step.do("flaky", { retries: { delay: () => delay.promise } }, async () => {
        throw new Error("down");
      }),
    );
    await stage.play();
    expect(stage.ending).toBeUndefined();
    stage.turn.abandon(new Error("lost"));
    delay.resolve("1 second");
    await stage.runtime.settle();
    expect(stage.commits).toEqual([]);
  });

  test("a turn before their time runs no body", async () => {
    let runs = 0;
    const stage = stageOf((step) =>
      step.do("flaky", async () => {
        runs++;
        throw new Error("down");
      }),
    );
    const { dueAt } = (await stage.play()) as { dueAt: number };
    await stage.runtime.advance(9999);
    expect(await stage.play()).toEqual({ kind: "suspended", dueAt });
    expect(runs).toBe(1);
    await stage.runtime.advance(1);
    await stage.play();
    expect(runs).toBe(2);
  });

  test("end with the last error when they are used up, and the run is dead-lettered", async () => {
    let runs = 0;
    const stage = stageOf((step) =>
      step.do("flaky", { retries: { limit: 2, delay: 0 } }, async () => {
        throw new Error(`down ${++runs}`);
      }),
    );
    let ending = await stage.play();
    while (ending?.kind === "suspended") ending = await stage.play();
    expect(runs).toBe(3);
    expect(ending).toMatchObject({ next: { kind: "error", error: { message: "down 3" }, deadLetter: true } });
    expect(stage.step("flaky").errors.map(({ error }) => error.message)).toEqual([
      "down 1",
      "down 2",
      "down 3",
    ]);
  });

  test("a NonRetryableError is the author's decision, on the last attempt too: the run is errored, never a dead letter", async () => {
    const wrapped = new Error("no", { cause: new NonRetryableError("declined") });
    for (const [limit, error] of [
      [5, new NonRetryableError("declined")],
      [0, new NonRetryableError("declined")],
      [0, new NonRetryableError("declined", "Declined")],
      [0, wrapped],
    ] as const) {
      const stage = stageOf((step) =>
        step.do("charge", { retries: { limit, delay: 0 } }, async () => {
          throw error;
        }),
      );
      expect(await stage.play()).toMatchObject({ next: { kind: "error", deadLetter: false } });
    }
  });

  test("used up before: the step fails without running its body", async () => {
    let runs = 0;
    const stage = stageOf((step) => step.do("flaky", async () => ++runs));
    await stage.play();
    const {
      result: _,
      settledAt: __,
      settledIndex: ___,
      ...base
    } = stage.step("flaky") as never as Record<string, unknown>;
    const again = stageOf((step) => step.do("flaky", async () => ++runs));
    const error = { name: "Error", message: "the last one" };
    again.remember({
      ...base,
      status: "waiting",
      waitsFor: "retry",
      wakeAt: 0,
      attempts: 6,
      errors: [{ attempt: 6, at: 0, error }],
    } as never);
    expect(await again.play()).toMatchObject({ next: { kind: "error", error: { message: "the last one" } } });
    expect(runs).toBe(1);
  });

  test("a body over its time counts as failed, hears of it, and its late result is void", async () => {
    const body = held();
    let signal: AbortSignal | undefined;
    const stage = stageOf((step) =>
      step.do("slow", { timeout: "1 second", retries: { limit: 1 } }, (context) => {
        signal = context.signal;
        return body.promise;
      }),
    );
    await stage.play();
    await stage.runtime.advance(1000);
    expect(signal?.aborted).toBe(true);
    expect(stage.step("slow")).toMatchObject({
      status: "waiting",
      attempts: 1,
      errors: [{ error: { code: "STEP_TIMEOUT" } }],
    });
    const commits = stage.commits.length;
    body.resolve("late");
    await stage.runtime.settle();
    expect(stage.commits).toHaveLength(commits);
    expect(stage.turn.state).toBe("suspended");
  });

  test("no timer is left behind by a body that finished in time", async () => {
    const stage = stageOf((step) => step.do("quick", { timeout: "1 hour" }, async () => 1));
    await stage.play();
    expect(stage.runtime.nextTimerAt()).toBeNull();
  });

  test("one whose body never comes to its end leaves none either once the lease is gone", async () => {
    const stage = stageOf((step) => step.do("hangs", { timeout: "1 hour" }, () => new Promise(() => {})));
    await stage.play();
    stage.turn.abandon(new Error("lost"));
    expect(stage.runtime.nextTimerAt()).toBeNull();
  });
});
