import { describe, expect, test } from "vitest";
import { held, stagesOn, told } from "../../../../tests/support/turn-stage.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);

describe("one commit per step", () => {
  test.each([1, 2, 5, 20])(
    "%i steps are as many commits, the completion riding on the last",
    async (count) => {
      const stage = stageOf(async (step) => {
        for (let at = 0; at < count; at++) await step.do(`s${at}`, async () => at);
        return "done";
      });
      expect(await stage.play()).toMatchObject({ kind: "ended", next: { kind: "complete" } });
      expect(stage.boundaries.map(told)).toEqual(
        Array.from(
          { length: count },
          (_, at) => `s${at} completed, ${at === count - 1 ? "complete" : "continue"}`,
        ),
      );
      expect(stage.boundaries.map(({ number }) => number)).toEqual(
        Array.from({ length: count }, (_, at) => at + 1),
      );
    },
  );

  test("a workflow without steps is one commit", async () => {
    const stage = stageOf(() => 42);
    await stage.play();
    expect(stage.boundaries.map(told)).toEqual(["complete"]);
    expect(stage.last.next).toEqual({ kind: "complete", output: { json: "42", marks: null } });
  });

  test("a step and the sleep behind it share one commit", async () => {
    const stage = stageOf(async (step) => {
      await step.do("charge", async () => 1);
      await step.sleep("cool-off", "1 hour");
    });
    const ending = await stage.play();
    const dueAt = stage.runtime.now() + 3_600_000;
    expect(ending).toEqual({ kind: "suspended", dueAt });
    expect(stage.boundaries.map(told)).toEqual(["charge completed, cool-off waiting, suspend"]);
    expect(stage.last.next).toEqual({ kind: "suspend", dueAt, task: "wake" });
  });

  test("a wake costs one commit: the end of the sleep rides with what comes after it", async () => {
    const stage = stageOf(async (step) => {
      await step.sleep("cool-off", "1 hour");
      return step.do("charge", async () => 1);
    });
    await stage.play();
    await stage.runtime.advance(3_600_000);
    await stage.play();
    expect(stage.boundaries.map(told)).toEqual([
      "cool-off waiting, suspend",
      "cool-off completed, continue",
      "charge completed, complete",
    ]);
  });

  test("five steps at once are begun without a commit and recorded in the order they finished", async () => {
    const bodies = Array.from({ length: 5 }, () => held<number>());
    const stage = stageOf((step) =>
      Promise.all(bodies.map((body, at) => step.do(`s${at}`, () => body.promise))),
    );
    await stage.play();
    expect(stage.commits).toEqual([]);
    expect(stage.turn.begun.map(({ key }) => key)).toEqual(["s0", "s1", "s2", "s3", "s4"]);
    for (const at of [3, 0, 4, 1, 2]) {
      bodies[at]?.resolve(at);
      await stage.runtime.settle();
    }
    expect(stage.boundaries.map(told)).toEqual([
      "s3 completed, continue",
      "s0 completed, continue",
      "s4 completed, continue",
      "s1 completed, continue",
      "s2 completed, complete",
    ]);
    expect(
      stage.steps.map((step) => [step.key, step.index, "settledIndex" in step && step.settledIndex]),
    ).toEqual([
      ["s0", 0, 1],
      ["s1", 1, 3],
      ["s2", 2, 4],
      ["s3", 3, 0],
      ["s4", 4, 2],
    ]);
  });

  test("what finishes while a commit is under way goes into the next one, all of it", async () => {
    const bodies = Array.from({ length: 5 }, () => held<number>());
    const stage = stageOf((step) =>
      Promise.all(bodies.map((body, at) => step.do(`s${at}`, () => body.promise))),
    );
    await stage.play();
    stage.hold();
    bodies[0]?.resolve(0);
    await stage.runtime.settle();
    for (const at of [1, 2, 3]) bodies[at]?.resolve(at);
    await stage.runtime.settle();
    expect(stage.boundaries.map(told)).toEqual(["s0 completed, continue"]);
    await stage.held[0]?.answer();
    expect(stage.boundaries.map(told)[1]).toBe("s1 completed, s2 completed, s3 completed, continue");
  });

  test("results that are there when the function returns join the last commit in order", async () => {
    const [first, second] = [held<number>(), held<number>()];
    const stage = stageOf((step) =>
      Promise.all([step.do("first", () => first.promise), step.do("second", () => second.promise)]),
    );
    await stage.play();
    second.resolve(2);
    first.resolve(1);
    await stage.runtime.settle();
    expect(stage.boundaries.map(told)).toEqual(["second completed, first completed, complete"]);
    expect(stage.last.steps).toMatchObject([{ settledIndex: 0 }, { settledIndex: 1 }]);
  });

  test("so does what finished together with the step that made the function return", async () => {
    const [winner, loser] = [held<number>(), held<number>()];
    const stage = stageOf((step) =>
      Promise.race([step.do("winner", () => winner.promise), step.do("loser", () => loser.promise)]),
    );
    await stage.play();
    winner.resolve(1);
    loser.resolve(2);
    await stage.runtime.settle();
    expect(stage.boundaries.map(told)).toEqual(["winner completed, loser completed, complete"]);
    expect(stage.last.next).toMatchObject({ output: { json: "1" } });
  });

  test("a failed attempt is one commit that gives the lease back until the next", async () => {
    const stage = stageOf((step) =>
      step.do("flaky", async () => {
        throw new Error("down");
      }),
    );
    const now = stage.runtime.now();
    expect(await stage.play()).toEqual({ kind: "suspended", dueAt: now + 10_000 });
    expect(stage.boundaries.map(told)).toEqual(["flaky waiting, suspend"]);
    expect(stage.last.next).toMatchObject({ task: "retry" });
    expect(stage.step("flaky")).toMatchObject({
      status: "waiting",
      waitsFor: "retry",
      attempts: 1,
      starts: 1,
      maxAttempts: 6,
      wakeAt: now + 10_000,
      errors: [{ attempt: 1, at: now, error: { message: "down" }, retryAt: now + 10_000 }],
    });
  });
});

describe("bodies wait for durability, author code does not", () => {
  test("the first body of a fresh run starts without a commit", async () => {
    const body = held();
    const stage = stageOf((step) => step.do("first", () => body.promise));
    await stage.play();
    expect(stage.turn.begun).toEqual([{ key: "first", name: "first", start: 1, at: stage.runtime.now() }]);
    expect(stage.commits).toEqual([]);
  });

  test("a result is handed over at once, the next body starts only when it is durable", async () => {
    const seen: string[] = [];
    const stage = stageOf(async (step) => {
      await step.do("a", async () => seen.push("a runs"));
      seen.push("a is known");
      await step.do("b", async () => seen.push("b runs"));
    });
    stage.hold();
    await stage.play();
    expect(seen).toEqual(["a runs", "a is known"]);
    expect(stage.held).toHaveLength(1);
    await stage.held[0]?.answer();
    expect(seen).toEqual(["a runs", "a is known", "b runs"]);
  });

  test("a body asked for while an unrelated write is under way waits for that write too", async () => {
    const started: string[] = [];
    const [a, b] = [held(), held()];
    const stage = stageOf((step) =>
      Promise.all([
        (async () => {
          await step.do("a", () => a.promise);
          await step.do("after a", async () => started.push("after a"));
        })(),
        (async () => {
          await step.do("b", () => b.promise);
          await step.do("after b", async () => started.push("after b"));
        })(),
      ]),
    );
    await stage.play();
    stage.hold();
    a.resolve(1);
    await stage.runtime.settle();
    b.resolve(2);
    await stage.runtime.settle();
    expect(started).toEqual([]);
    await stage.held[0]?.answer();
    // The first commit carried a; b became known later and is not durable yet.
    expect(started).toEqual(["after a"]);
    await stage.held[1]?.answer();
    expect(started).toEqual(["after a", "after b"]);
  });

  test("a wait found beside a running body is committed at once", async () => {
    const body = held();
    const stage = stageOf((step) =>
      Promise.all([step.do("long", () => body.promise), step.sleep("nap", "1 hour")]),
    );
    await stage.play();
    expect(stage.boundaries.map(told)).toEqual(["nap waiting, continue"]);
    expect(stage.last.begun.map(({ key }) => key)).toEqual(["long"]);
  });

  test("a boundary names the bodies it releases and those still in flight", async () => {
    const [slow, next] = [held(), held()];
    const stage = stageOf((step) =>
      Promise.all([
        step.do("slow", () => slow.promise),
        (async () => {
          await step.do("quick", async () => 1);
          await step.do("next", () => next.promise);
        })(),
      ]),
    );
    const now = stage.runtime.now();
    await stage.play();
    expect(stage.boundaries.map(told)).toEqual(["quick completed, continue"]);
    expect(stage.last.begun).toEqual([
      { key: "slow", name: "slow", start: 1, at: now },
      { key: "next", name: "next", start: 1, at: now },
    ]);
  });

  test("the last commit of a turn names no bodies", async () => {
    const stage = stageOf(async (step) => {
      void step.do("forgotten", () => new Promise(() => {}));
      await step.do("known", async () => 1);
    });
    await stage.play();
    expect(stage.last.next.kind).toBe("complete");
    expect(stage.last.begun).toEqual([]);
  });

  test("a body released by a commit does not start once the lease is lost", async () => {
    let started = false;
    const stage = stageOf(async (step) => {
      await step.do("a", async () => 1);
      await step.do("b", async () => {
        started = true;
      });
    });
    stage.hold();
    await stage.play();
    stage.leaseHeld = false;
    await stage.held[0]?.answer();
    expect(started).toBe(false);
    expect(stage.ending).toMatchObject({ kind: "lost" });
  });
});

describe("starts cut off by a crash", () => {
  const begun = { key: "pay", name: "pay", start: 1, at: 5 };

  test("raise ctx.attempt but are not attempts", async () => {
    const attempts: number[] = [];
    const stage = stageOf((step) =>
      step.do("pay", { retries: { limit: 1 } }, async ({ attempt }) => {
        attempts.push(attempt);
        throw new Error("down");
      }),
    );
    await stage.play({ begun: [{ ...begun, start: 3 }] });
    expect(attempts).toEqual([4]);
    expect(stage.step("pay")).toMatchObject({ status: "waiting", attempts: 1, starts: 4, maxAttempts: 2 });
    expect(stage.step("pay").errors).toMatchObject([{ attempt: 4 }]);
    await stage.runtime.advance(10_000);
    await stage.resume();
    expect(attempts).toEqual([4, 5]);
    expect(stage.step("pay")).toMatchObject({ status: "errored", attempts: 2, starts: 5 });
  });

  test("the next start counts on from what is recorded when that is more", async () => {
    const attempts: number[] = [];
    const stage = stageOf((step) =>
      step.do("pay", async ({ attempt }) => {
        attempts.push(attempt);
        if (attempts.length === 1) throw new Error("down");
      }),
    );
    await stage.play();
    await stage.runtime.advance(10_000);
    await stage.play({ begun: [begun] });
    expect(attempts).toEqual([1, 2]);
  });

  test('ifInterrupted: "fail" pays one commit that names its body before it starts', async () => {
    let runs = 0;
    const stage = stageOf((step) => step.do("pay", { ifInterrupted: "fail" }, async () => ++runs));
    stage.hold();
    await stage.play();
    expect(runs).toBe(0);
    expect(stage.boundaries.map(told)).toEqual(["continue"]);
    expect(stage.last.begun.map(({ key, start }) => ({ key, start }))).toEqual([{ key: "pay", start: 1 }]);
    stage.letGo();
    await stage.held[0]?.answer();
    expect(runs).toBe(1);
    expect(stage.boundaries.map(told)).toEqual(["continue", "pay completed, complete"]);
  });

  test('ifInterrupted: "fail" costs nothing more behind another step', async () => {
    const stage = stageOf(async (step) => {
      await step.do("look", async () => 1);
      await step.do("pay", { ifInterrupted: "fail" }, async () => 2);
    });
    await stage.play();
    expect(stage.boundaries.map(told)).toEqual(["look completed, continue", "pay completed, complete"]);
    expect(stage.boundaries[0]?.begun.map(({ key }) => key)).toEqual(["pay"]);
  });

  test('ifInterrupted: "fail" does not run again after a crash and says so', async () => {
    let runs = 0;
    const stage = stageOf(async (step) => {
      try {
        await step.do("pay", { ifInterrupted: "fail" }, async () => ++runs);
      } catch (error) {
        return (error as { code: string }).code;
      }
    });
    await stage.play({ begun: [begun], fresh: false });
    expect(runs).toBe(0);
    expect(stage.step("pay")).toMatchObject({ status: "errored", error: { code: "STEP_INTERRUPTED" } });
    expect(stage.last.next).toMatchObject({ kind: "complete", output: { json: '"STEP_INTERRUPTED"' } });
  });

  test("a turn that gives the run back before it asked for the step does not forget the start", async () => {
    const stage = stageOf((step) => step.do("pay", { ifInterrupted: "fail" }, async () => 1));
    const played = stage.play({ begun: [begun], fresh: false });
    stage.turn.windDown();
    await played;
    expect(stage.last).toMatchObject({ next: { kind: "yield" }, begun: [begun] });
  });

  test("a renewal between a commit and its answer names the bodies the commit releases", async () => {
    const stage = stageOf(async (step) => {
      await step.do("look", async () => 1);
      await step.do("pay", { ifInterrupted: "fail" }, async () => 2);
    });
    stage.hold();
    await stage.play();
    expect(stage.last.begun.map(({ key }) => key)).toEqual(["pay"]);
    // What ended is told of too, until its own record is known to be durable.
    expect(stage.turn.begun.map(({ key }) => key)).toEqual(["look", "pay"]);
  });
});

describe("many steps at once", () => {
  test("more than the limit queue instead of failing", async () => {
    const bodies = new Map<string, ReturnType<typeof held>>();
    let most = 0;
    const stage = stageOf((step) =>
      Promise.all(
        Array.from({ length: 300 }, (_, at) =>
          step.do(`s${at}`, () => {
            const body = held();
            bodies.set(`s${at}`, body);
            most = Math.max(most, stage.turn.begun.length);
            return body.promise;
          }),
        ),
      ),
    );
    await stage.play();
    expect(bodies.size).toBe(256);
    bodies.get("s7")?.resolve(7);
    await stage.runtime.settle();
    expect(bodies.size).toBe(257);
    for (let done = 0; done < 300; done++) {
      for (const body of bodies.values()) body.resolve(1);
      await stage.runtime.settle();
      if (stage.ending) break;
    }
    expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "complete" } });
    expect(bodies.size).toBe(300);
    expect(most).toBeLessThanOrEqual(256);
  });

  test("the limit counts bodies, not sleeps", async () => {
    const stage = stageOf(
      (step) =>
        Promise.all([
          ...Array.from({ length: 3 }, (_, at) => step.sleep(`nap ${at}`, 1000)),
          step.do("a", async () => 1),
        ]),
      { limits: { maxParallelSteps: 1 } },
    );
    await stage.play();
    expect(stage.step("a")).toMatchObject({ status: "completed" });
  });
});
