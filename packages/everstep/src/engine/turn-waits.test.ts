import { describe, expect, test } from "vitest";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { held, stagesOn, told } from "./turn-stage.ts";

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

  test("does nothing once the run was ended or taken away", async () => {
    const digest = held();
    let ran = false;
    const stage = stageOf((step) =>
      Promise.all([
        step.sleep("nap", "1 hour"),
        (async () => {
          await digest.promise;
          await step.do("late", async () => {
            ran = true;
          });
        })(),
      ]),
    );
    await stage.play();
    stage.turn.abandon(new Error("restarted"));
    digest.resolve(1);
    await stage.runtime.settle();
    expect(stage.wakes).toEqual([]);
    expect(ran).toBe(false);
    expect(stage.commits).toHaveLength(1);
  });
});

describe("events", () => {
  test("one that is there before the wait is taken without a wait, and its consumption commits with the step", async () => {
    const stage = stageOf(async (step) => {
      const { payload, type, timestamp } = await step.waitForEvent("approval", { type: "approved" });
      return { payload, type, isDate: timestamp instanceof Date };
    });
    stage.accept({ type: "approved", payload: { by: "ann" } });
    await stage.play();
    expect(stage.boundaries.map(told)).toEqual(["approval completed, complete"]);
    expect(stage.last.consumed).toEqual([{ seq: 1, stepKey: "approval" }]);
    expect(stage.last.next).toMatchObject({
      output: { json: '{"payload":{"by":"ann"},"type":"approved","isDate":true}' },
    });
  });

  test("several of one type are taken oldest first, one per wait, others stay", async () => {
    const stage = stageOf(async (step) => {
      const got: unknown[] = [];
      for (const at of [1, 2]) got.push((await step.waitForEvent(`n${at}`, { type: "n" })).payload);
      return got;
    });
    for (const payload of ["a", "b", "c"]) stage.accept({ type: "n", payload });
    stage.accept({ type: "other" });
    await stage.play();
    expect(stage.last.next).toMatchObject({ output: { json: '["a","b"]' } });
    expect(stage.events.map(({ seq }) => seq)).toEqual([3, 4]);
  });

  test("one that arrives while a body holds the turn open reaches the wait", async () => {
    const body = held();
    const stage = stageOf((step) =>
      Promise.all([step.do("long", () => body.promise), step.waitForEvent("approval", { type: "approved" })]),
    );
    await stage.play();
    stage.accept({ type: "approved" });
    stage.turn.eventsArrived();
    await stage.runtime.settle();
    expect(stage.step("approval").status).toBe("completed");
    expect(stage.last).toMatchObject({ eventSeqSeen: 1, consumed: [{ seq: 1 }] });
  });

  test("a commit that says there are newer events makes the turn look", async () => {
    const body = held();
    const stage = stageOf((step) =>
      Promise.all([step.do("long", () => body.promise), step.waitForEvent("approval", { type: "approved" })]),
    );
    stage.hold();
    await stage.play();
    stage.accept({ type: "approved" });
    stage.letGo();
    await stage.held[0]?.answer();
    expect(stage.step("approval").status).toBe("completed");
  });

  test("a suspending commit that finds an event says the run is due now", async () => {
    const stage = stageOf((step) => step.waitForEvent("approval", { type: "approved" }));
    stage.hold();
    await stage.play();
    expect(stage.last).toMatchObject({ eventSeqSeen: 0, next: { kind: "suspend" } });
    stage.accept({ type: "approved" });
    stage.letGo();
    await stage.held[0]?.answer(stage.committed({ dueNow: true }));
    expect(stage.ending).toEqual({ kind: "suspended", dueAt: stage.runtime.now() });
    expect(await stage.resume()).toMatchObject({ kind: "ended" });
  });

  test("one that is younger than the deadline is not taken, however late the turn", async () => {
    const stage = stageOf((step) => step.waitForEvent("approval", { type: "approved", timeout: "1 hour" }));
    await stage.play();
    await stage.runtime.advance(hour + 1);
    stage.accept({ type: "approved" });
    expect(await stage.play()).toMatchObject({ next: { kind: "error" } });
    expect(stage.step("approval")).toMatchObject({
      status: "errored",
      error: { code: "WAIT_FOR_EVENT_TIMEOUT" },
    });
  });

  test("one that came before the deadline is taken though the turn is late", async () => {
    const stage = stageOf((step) => step.waitForEvent("approval", { type: "approved", timeout: "1 hour" }));
    await stage.play();
    stage.accept({ type: "approved" });
    await stage.runtime.advance(2 * hour);
    expect(await stage.play()).toMatchObject({ next: { kind: "complete" } });
  });

  test("a skipped sleep is over at once, and the event that skipped it is used up", async () => {
    const stage = stageOf((step) => step.sleep("nap", "1 hour"));
    await stage.play();
    stage.accept({ forStep: "nap", system: true });
    expect(await stage.resume()).toMatchObject({ kind: "ended" });
    expect(stage.last.consumed).toEqual([{ seq: 1, stepKey: "nap" }]);
  });

  test("onConsume runs before the wait completes, and its writes commit with the consumption", async () => {
    const seen: unknown[] = [];
    const mutation = (): void => {};
    const stage = stageOf(async (step) => {
      await step.waitForEvent("approval", {
        type: "approved",
        onConsume: ({ payload }, tx) => {
          seen.push(payload);
          tx.mutate(mutation);
        },
      });
      seen.push("completed");
    });
    stage.accept({ type: "approved", payload: 7 });
    await stage.play();
    expect(seen).toEqual([7, "completed"]);
    expect(stage.commits[0]?.mutations).toEqual({ serviceCalls: [], mutate: [mutation] });
    expect(stage.boundaries.map(told)).toEqual(["approval completed, continue", "complete"]);
  });

  test("a failing onConsume fails the wait and leaves the event", async () => {
    const stage = stageOf(async (step) => {
      const refuse = (): void => {
        throw new Error("not now");
      };
      await step.waitForEvent("first", { type: "n", onConsume: refuse }).catch(() => {});
      return (await step.waitForEvent("second", { type: "n" })).payload;
    });
    stage.accept({ type: "n", payload: "kept" });
    await stage.play();
    expect(stage.step("first")).toMatchObject({ status: "errored", error: { message: "not now" } });
    expect(stage.last.next).toMatchObject({ output: { json: '"kept"' } });
  });
});

describe("timeouts of waits", () => {
  test("are committed before the author hears of them", async () => {
    let heard = false;
    const stage = stageOf(async (step) => {
      await step.waitForEvent("approval", { type: "approved", timeout: "1 hour" }).catch(() => {
        heard = true;
      });
    });
    await stage.play();
    await stage.runtime.advance(hour);
    stage.hold();
    await stage.play();
    expect(stage.boundaries.map(told)).toEqual(["approval waiting, suspend", "approval timed out, continue"]);
    expect(stage.last.timeouts[0]?.wait).toMatchObject({ key: "approval", status: "waiting" });
    expect(heard).toBe(false);
    stage.letGo();
    await stage.held[0]?.answer();
    expect(heard).toBe(true);
  });

  test("are refused when an event is there, and the wait takes it", async () => {
    const stage = stageOf(async (step) => {
      const { payload } = await step.waitForEvent("approval", { type: "approved", timeout: "1 hour" });
      return payload;
    });
    await stage.play();
    const createdAt = stage.runtime.now();
    await stage.runtime.advance(hour);
    stage.hold();
    await stage.play();
    expect(stage.last).toMatchObject({ eventSeqSeen: 0, timeouts: [{ settled: { key: "approval" } }] });
    stage.accept({ type: "approved", payload: "in time", createdAt });
    stage.letGo();
    await stage.held[0]?.answer(stage.committed({ timeoutsRefused: true }));
    expect(stage.ending).toMatchObject({
      kind: "ended",
      next: { kind: "complete", output: { json: '"in time"' } },
    });
    expect(stage.step("approval").status).toBe("completed");
  });

  test("say what was seen when they were decided, not what arrived before they were sent", async () => {
    const [slow, first] = [held(), held()];
    const stage = stageOf((step) =>
      Promise.all([
        step.do("slow", { timeout: "2 hours" }, () => slow.promise),
        step.do("first", { timeout: "2 hours" }, () => first.promise),
        step.waitForEvent("approval", { type: "approved", timeout: "1 hour" }),
      ]),
    );
    await stage.play();
    stage.hold();
    first.resolve(1);
    await stage.runtime.settle();
    // The wait times out while a commit is under way; an event that came in time is noticed only now.
    const createdAt = stage.runtime.now();
    await stage.runtime.advance(hour);
    stage.accept({ type: "approved", createdAt });
    stage.turn.eventsArrived();
    await stage.runtime.settle();
    await stage.held[0]?.answer();
    expect(stage.last.timeouts).toHaveLength(1);
    expect(stage.last.eventSeqSeen).toBe(0);
    stage.letGo();
    await stage.held[1]?.answer(stage.committed({ timeoutsRefused: true }));
    expect(stage.step("approval").status).toBe("completed");
  });

  test("a caught one is thrown again on replay, of the same kind", async () => {
    const names: string[] = [];
    const stage = stageOf(async (step) => {
      await step.waitForEvent("approval", { type: "approved", timeout: "1 hour" }).catch((error) => {
        names.push(`${error.constructor.name} ${error.message}`);
      });
      await step.sleep("nap", "1 hour");
    });
    await stage.play();
    await stage.runtime.advance(hour);
    await stage.play();
    await stage.play();
    expect(names).toEqual(Array(2).fill("WaitForEventTimeoutError WAIT_FOR_EVENT_TIMEOUT"));
  });
});

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
