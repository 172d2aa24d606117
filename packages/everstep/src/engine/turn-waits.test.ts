import { describe, expect, test } from "vitest";
import { held, type Story, stagesOn, told } from "../../../../tests/support/turn-stage.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);
const minute = 60_000;
const hour = 60 * minute;

describe("suspension is not an error", () => {
  test("try, catch and finally never see it", async () => {
    const seen: string[] = [];
    const stage = stageOf(async (step) => {
      try {
        await step.sleep("nap", "1 hour");
        seen.push("after");
      } catch {
        seen.push("catch");
      } finally {
        seen.push("finally");
      }
    });
    await stage.play();
    stage.turn.abandon(new Error("dropped"));
    await stage.runtime.settle();
    expect(seen).toEqual([]);
    await stage.runtime.advance(hour);
    await stage.play();
    expect(seen).toEqual(["after", "finally"]);
  });

  test("a sibling that finished before the other branch waits is not run again", async () => {
    let runs = 0;
    const stage = stageOf((step) =>
      Promise.all([step.do("a", async () => ++runs), step.sleep("nap", "1 hour")]),
    );
    await stage.play();
    expect(stage.boundaries.map(told)).toEqual(["nap waiting, continue", "a completed, suspend"]);
    await stage.runtime.advance(hour);
    expect(await stage.play()).toMatchObject({ kind: "ended" });
    expect(runs).toBe(1);
  });

  test("a resumed turn goes on where it was, without running the function again", async () => {
    let passages = 0;
    const stage = stageOf(async (step) => {
      passages++;
      await step.sleep("one", "1 hour");
      await step.sleep("two", "1 hour");
      return passages;
    });
    await stage.play();
    for (const _ of [1, 2]) {
      await stage.runtime.advance(hour);
      await stage.resume();
    }
    expect(stage.boundaries.map(told)).toEqual([
      "one waiting, suspend",
      "one completed, two waiting, suspend",
      "two completed, complete",
    ]);
    // Numbers begin again under every token.
    expect(stage.boundaries.map(({ number }) => number)).toEqual([1, 1, 1]);
    expect(stage.last.next).toMatchObject({ output: { json: "1" } });
  });
});

describe("every wait has its own deadline", () => {
  test("waking for the nearest completes that one only", async () => {
    const stage = stageOf((step) =>
      Promise.all([step.sleep("long", "1 hour"), step.sleep("short", "1 minute")]),
    );
    const begin = stage.runtime.now();
    expect(await stage.play()).toEqual({ kind: "suspended", dueAt: begin + minute });
    await stage.runtime.advance(minute);
    expect(await stage.play()).toEqual({ kind: "suspended", dueAt: begin + hour });
    expect(stage.steps.map(({ key, status }) => `${key} ${status}`)).toEqual([
      "long waiting",
      "short completed",
    ]);
  });

  test("a sleep due beside an event wait with a later deadline does not time the wait out", async () => {
    const stage = stageOf((step) =>
      Promise.all([
        step.sleep("nap", "1 minute"),
        step.waitForEvent("approval", { type: "approved", timeout: "1 hour" }),
      ]),
    );
    await stage.play();
    await stage.runtime.advance(minute);
    await stage.play();
    expect(stage.step("approval").status).toBe("waiting");
  });

  test("the first wake does not skip a second sleep reached in the same turn", async () => {
    const stage = stageOf(async (step) => {
      await step.sleep("one", "1 minute");
      await step.sleep("two", "1 minute");
    });
    await stage.play();
    await stage.runtime.advance(minute);
    expect(await stage.play()).toEqual({ kind: "suspended", dueAt: stage.runtime.now() + minute });
  });

  test("an early wake changes nothing and keeps the time that was written down", async () => {
    const stage = stageOf((step) => step.sleep("nap", "1 hour"));
    const { dueAt } = (await stage.play()) as { dueAt: number };
    await stage.runtime.advance(minute);
    expect(await stage.play()).toEqual({ kind: "suspended", dueAt });
    expect(stage.boundaries.map(told)).toEqual(["nap waiting, suspend", "suspend"]);
  });

  test("a sleep until a time in the past is over at once", async () => {
    const stage = stageOf(async (step) => {
      await step.sleepUntil("past", stage.runtime.now() - 1);
      return "done";
    });
    await stage.play();
    expect(stage.boundaries.map(told)).toEqual(["past completed, complete"]);
  });

  test("one until a time that no store could keep, too", async () => {
    const stage = stageOf((step) => step.sleepUntil("past", -1e20));
    await stage.play();
    expect(stage.boundaries.map(told)).toEqual(["past completed, complete"]);
    expect(stage.step("past").wakeAt).toBe(0);
  });

  test("a wait of no time says so, although it is recorded later than it was over", async () => {
    const wait: Story = (step) => step.waitForEvent("w", { type: "t", timeout: 0 });
    const stage = stageOf(wait, { limits: { minWaitTimeout: 0 } });
    let now = stage.runtime.now();
    stage.runtime.now = () => now++;
    await stage.play();
    if (stage.ending?.kind === "suspended") await stage.resume();
    expect(stage.last.next).toMatchObject({ error: { message: expect.stringContaining("within 0 ms") } });
  });

  test("a turn held open by a body still owes its other waits their time", async () => {
    const body = held();
    const stage = stageOf((step) =>
      Promise.all([
        step.do("long", { timeout: "2 hours" }, () => body.promise),
        (async () => {
          await step.sleep("nap", "1 minute");
          await step.do("after nap", async () => 1);
        })(),
      ]),
    );
    await stage.play();
    await stage.runtime.advance(minute - 1);
    expect(stage.step("nap").status).toBe("waiting");
    await stage.runtime.advance(1);
    expect(stage.step("after nap").status).toBe("completed");
    body.resolve(1);
    await stage.runtime.settle();
    expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "complete" } });
  });

  test("due waits complete in the order of their times, whatever order they were asked for in", async () => {
    const order: string[] = [];
    const nap = async (step: Parameters<Parameters<typeof stageOf>[0]>[0], name: string, ms: number) => {
      await step.sleep(name, ms);
      order.push(name);
    };
    const stage = stageOf((step) =>
      Promise.all([nap(step, "c", 3000), nap(step, "a", 1000), nap(step, "b", 2000)]),
    );
    await stage.play();
    await stage.runtime.advance(hour);
    await stage.resume();
    expect(order).toEqual(["a", "b", "c"]);
    order.length = 0;
    await stage.play();
    expect(order).toEqual(["a", "b", "c"]);
  });
});

describe("a step call from a turn that has ended its part", () => {
  test("is none yet while author code is busy for one macrotask only", async () => {
    const stage = stageOf((step) =>
      Promise.all([
        step.sleep("nap", "1 hour"),
        (async () => {
          await new Promise<void>((resolve) => stage.runtime.drained(resolve));
          return step.do("in time", async () => 1);
        })(),
      ]),
    );
    await stage.play();
    expect(stage.boundaries.map(told)).toEqual(["nap waiting, continue", "in time completed, suspend"]);
    expect(stage.wakes).toEqual([]);
  });

  test("wakes the run, and goes on in the next turn", async () => {
    const digest = held();
    const stage = stageOf((step) =>
      Promise.all([
        step.sleep("nap", "1 hour"),
        (async () => {
          await digest.promise;
          return step.do("late", async () => "late");
        })(),
      ]),
    );
    expect(await stage.play()).toMatchObject({ kind: "suspended" });
    digest.resolve(1);
    await stage.runtime.settle();
    expect(stage.wakes).toEqual([stage.turn]);
    expect(stage.commits).toHaveLength(1);
    await stage.resume();
    expect(stage.step("late").status).toBe("completed");
    expect(stage.ending).toMatchObject({ kind: "suspended" });
  });

  test("wakes the run too when it comes while the suspending commit is under way", async () => {
    const digest = held();
    let started = false;
    const stage = stageOf((step) =>
      Promise.all([
        step.sleep("nap", "1 hour"),
        (async () => {
          await digest.promise;
          return step.do("late", async () => {
            started = true;
          });
        })(),
      ]),
    );
    stage.hold();
    await stage.play();
    digest.resolve(1);
    await stage.runtime.settle();
    stage.letGo();
    await stage.held[0]?.answer();
    expect(stage.ending).toMatchObject({ kind: "suspended" });
    expect(started).toBe(false);
    expect(stage.wakes).toEqual([stage.turn]);
    await stage.resume();
    expect(started).toBe(true);
    expect(stage.step("late").status).toBe("completed");
    expect(stage.ending).toMatchObject({ kind: "suspended" });
  });

  test("starts no body while a commit that gives the lease back is under way", async () => {
    const digest = held();
    let started = false;
    const stage = stageOf((step) =>
      Promise.all([
        step.sleep("nap", "1 hour"),
        (async () => {
          await digest.promise;
          return step.do("late", async () => {
            started = true;
          });
        })(),
      ]),
    );
    await stage.play();
    stage.hold();
    // Nothing new to write: the turn that found nothing due suspends again.
    await stage.resume();
    expect(stage.boundaries.map(told)).toEqual(["nap waiting, suspend", "suspend"]);
    digest.resolve(1);
    await stage.runtime.settle();
    expect(started).toBe(false);
    stage.letGo();
    await stage.held[0]?.answer();
    await stage.resume();
    expect(started).toBe(true);
    expect(stage.step("late").status).toBe("completed");
  });

  test("a function that returns after its turn was suspended is heard in the next turn", async () => {
    const digest = held<string>();
    const stage = stageOf((step) => {
      void step.sleep("nap", "1 hour");
      return digest.promise;
    });
    expect(await stage.play()).toMatchObject({ kind: "suspended" });
    digest.resolve("over");
    await stage.runtime.settle();
    expect(stage.wakes).toHaveLength(1);
    expect(await stage.resume()).toMatchObject({ kind: "ended", next: { output: { json: '"over"' } } });
  });

  test("log lines written in between are kept for the next commit", async () => {
    const digest = held();
    const stage = stageOf((step) =>
      Promise.all([
        step.sleep("nap", "1 hour"),
        (async () => {
          await digest.promise;
          await step.log.info("digested");
          return step.do("late", async () => 1);
        })(),
      ]),
    );
    await stage.play();
    digest.resolve(1);
    await stage.runtime.settle();
    await stage.resume();
    expect(stage.logs.map(({ message }) => message)).toEqual(["digested"]);
  });

  test("real asynchronous work beside a sleep loses nothing", async () => {
    const stage = stageOf(async (step) => {
      const [, digest] = await Promise.all([
        step.sleep("nap", "1 minute"),
        (async () => {
          const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode("order"));
          return step.do("keep digest", async () => new Uint8Array(bytes).length);
        })(),
      ]);
      return digest;
    });
    await stage.play();
    await stage.runtime.waitUntil(() => stage.wakes.length > 0 || stage.steps.length === 2);
    if (stage.turn.state === "suspended") await stage.resume();
    await stage.runtime.settle();
    expect(stage.step("keep digest").status).toBe("completed");
    await stage.runtime.advance(minute);
    expect(await stage.resume()).toMatchObject({ kind: "ended", next: { output: { json: "32" } } });
  });

  /** A nap, and beside it code that asks for a step when its digest is there. */
  function napAndDigest() {
    const digest = held();
    const ran: string[] = [];
    const stage = stageOf((step) =>
      Promise.race([
        step.sleep("nap", "1 hour"),
        (async () => {
          await digest.promise;
          await step.do("late", async () => ran.push("late"));
        })(),
      ]),
    );
    return { digest, ran, stage };
  }

  test("wakes the run once, and goes on in the next turn, although the turn was dropped from memory", async () => {
    const { digest, ran, stage } = napAndDigest();
    await stage.play();
    stage.turn.abandon(new Error("dropped"));
    digest.resolve(1);
    await stage.runtime.settle();
    expect(stage.wakes).toEqual([stage.turn]);
    expect(ran).toEqual([]);
    expect(await stage.resume()).toMatchObject({ kind: "ended" });
    expect(ran).toEqual(["late"]);
  });

  test("wakes a run whose suspension may be durable although nobody heard so", async () => {
    const { digest, ran, stage } = napAndDigest();
    stage.hold();
    await stage.play();
    await stage.held[0]?.fail(new Error("no answer"));
    expect(stage.ending).toMatchObject({ kind: "lost" });
    expect(stage.wakes).toEqual([]);
    digest.resolve(1);
    await stage.runtime.settle();
    expect(stage.wakes).toEqual([stage.turn]);
    expect(ran).toEqual([]);
  });

  test("does nothing once the run has ended", async () => {
    const { digest, ran, stage } = napAndDigest();
    await stage.play();
    await stage.runtime.advance(60 * minute);
    expect(await stage.resume()).toMatchObject({ kind: "ended" });
    digest.resolve(1);
    await stage.runtime.settle();
    expect(stage.wakes).toEqual([]);
    expect(ran).toEqual([]);
    expect(stage.commits).toHaveLength(2);
  });
});
