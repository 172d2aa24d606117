import { afterEach, describe, expect, test } from "vitest";
import { NonRetryableError } from "../authoring/errors.ts";
import type { StandardSchema } from "../authoring/standard-schema.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { held, type Story, stagesOn, told } from "./turn-stage.ts";

const stageOf = stagesOn(createFakeRuntime);
const minute = 60_000;
const hour = 60 * minute;
const once = { retries: false } as const;

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

describe("a lease that is lost", () => {
  test("superseded: everything stops, nothing more is committed, signals abort", async () => {
    const [slow, quick] = [held(), held()];
    let signal: AbortSignal | undefined;
    const seen: string[] = [];
    const stage = stageOf((step) =>
      Promise.all([
        step.do("slow", (context) => {
          signal = context.signal;
          return slow.promise;
        }),
        (async () => {
          await step.do("quick", () => quick.promise);
          await step.do("next", async () => seen.push("next ran"));
        })(),
      ]),
    );
    await stage.play();
    stage.answer = () => ({ kind: "superseded" });
    quick.resolve(1);
    await stage.runtime.settle();
    expect(stage.ending).toMatchObject({ kind: "lost", reason: { code: "STEP_INTERRUPTED" } });
    expect(signal?.aborted).toBe(true);
    slow.resolve(2);
    await stage.runtime.advance(24 * hour);
    expect(seen).toEqual([]);
    expect(stage.commits).toHaveLength(1);
    expect(stage.runtime.nextTimerAt()).toBeNull();
    expect(stage.turn.state).toBe("closed");
  });

  test("a commit the store could not make ends the turn as lost", async () => {
    const stage = stageOf(async (step) => {
      await step.do("a", async () => 1);
      await step.do("b", async () => 2);
    });
    stage.hold();
    await stage.play();
    await stage.held[0]?.fail(new Error("the store is gone"));
    expect(stage.ending).toMatchObject({ kind: "lost", reason: { message: "the store is gone" } });
  });

  test("noticed by the runner's own clock, it voids a result before anything is committed", async () => {
    const body = held();
    const stage = stageOf((step) => step.do("slow", () => body.promise));
    await stage.play();
    stage.leaseHeld = false;
    body.resolve(1);
    await stage.runtime.settle();
    expect(stage.ending).toMatchObject({ kind: "lost" });
    expect(stage.commits).toEqual([]);
  });

  test("no body is begun any more, though nothing is left to be written", async () => {
    const digest = held();
    let ran = false;
    const stage = stageOf(async (step) => {
      await digest.promise;
      await step.do("late", async () => {
        ran = true;
      });
    });
    await stage.play();
    stage.leaseHeld = false;
    digest.resolve(1);
    await stage.runtime.settle();
    expect(ran).toBe(false);
    expect(stage.ending).toMatchObject({ kind: "lost" });
  });

  test("a signal looked at only afterwards is aborted too, with the reason", async () => {
    let signal: (() => AbortSignal) | undefined;
    const stage = stageOf((step) =>
      step.do("slow", (context) => {
        signal = () => context.signal;
        return new Promise(() => {});
      }),
    );
    await stage.play();
    const reason = new Error("taken away");
    stage.turn.abandon(reason);
    expect(signal?.().aborted).toBe(true);
    expect(signal?.().reason).toBe(reason);
  });
});

describe("the author's own writes", () => {
  const write = (): void => {};

  test("travel with their step, which is handed over after its commit", async () => {
    const seen: string[] = [];
    const stage = stageOf(async (step) => {
      await step.do("order", async ({ mutate }) => {
        mutate(write);
      });
      seen.push("order known");
    });
    stage.hold();
    await stage.play();
    expect(stage.commits).toMatchObject([{ mutations: { mutate: [write] } }]);
    expect(stage.boundaries.map(told)).toEqual(["order completed, continue"]);
    expect(seen).toEqual([]);
    stage.letGo();
    await stage.held[0]?.answer();
    expect(seen).toEqual(["order known"]);
  });

  test("a conflict fails the step without a retry, and author code may catch it", async () => {
    const stage = stageOf((step) =>
      step
        .do("order", async ({ mutate }) => {
          mutate(write);
        })
        .catch((error) => error.code),
    );
    let refused = 0;
    stage.answer = ({ mutations }) =>
      mutations && ++refused
        ? { kind: "mutation-failed", conflict: true, error: new Error("duplicate key") }
        : stage.committed();
    await stage.play();
    expect(refused).toBe(1);
    expect(stage.step("order")).toMatchObject({
      status: "errored",
      attempts: 1,
      error: { code: "MUTATION_CONFLICT", message: expect.stringContaining("duplicate key") },
    });
    expect(stage.last.next).toMatchObject({ kind: "complete", output: { json: '"MUTATION_CONFLICT"' } });
    // The refused commit was not applied, so its number is used again.
    expect(stage.boundaries.map(({ number }) => number)).toEqual([1, 1]);
  });

  test("a refusal leaves what its neighbours wrote, once", async () => {
    const [order, neighbour] = [held(), held()];
    const stage = stageOf((step) =>
      Promise.allSettled([
        step.do("order", async ({ mutate }) => {
          mutate(write);
          await order.promise;
        }),
        step.do("neighbour", () => neighbour.promise),
        step.sleep("nap", "1 hour"),
      ]),
    );
    stage.hold();
    await stage.play();
    neighbour.resolve(1);
    await stage.runtime.settle();
    order.resolve(1);
    await stage.runtime.settle();
    await stage.held[0]?.answer();
    expect(stage.boundaries.map(told)).toEqual([
      "nap waiting, continue",
      "neighbour completed, order completed, continue",
    ]);
    stage.letGo();
    await stage.held[1]?.answer({
      kind: "mutation-failed",
      conflict: true,
      error: new Error("duplicate key"),
    });
    expect(stage.last).toMatchObject({ number: 2, next: { kind: "suspend" } });
    expect(told(stage.last)).toBe("neighbour completed, order errored, suspend");
  });

  test("of a failed attempt are never applied; those of the attempt that succeeded are", async () => {
    const first = (): void => {};
    const second = (): void => {};
    const stage = stageOf((step) =>
      step.do("order", async ({ attempt, mutate }) => {
        mutate(attempt === 1 ? first : second);
        if (attempt === 1) throw new Error("down");
      }),
    );
    await stage.play();
    await stage.runtime.advance(10_000);
    await stage.play();
    expect(stage.commits.map(({ mutations }) => mutations?.mutate)).toEqual([undefined, [second], undefined]);
  });

  test("onTerminalError applies when the step has failed for good, not while retries remain", async () => {
    const stage = stageOf((step) =>
      step.do("order", { retries: { limit: 1 } }, async ({ onTerminalError }) => {
        onTerminalError.mutate(write);
        throw new Error("down");
      }),
    );
    await stage.play();
    expect(stage.commits.map(({ mutations }) => mutations)).toEqual([null]);
    await stage.runtime.advance(10_000);
    await stage.play();
    expect(stage.commits.map(({ mutations }) => mutations?.mutate)).toEqual([undefined, [write], undefined]);
  });

  test("two steps with writes commit one after the other", async () => {
    const bodies = [held(), held()];
    const stage = stageOf((step) =>
      Promise.all(
        bodies.map((body, at) =>
          step.do(`s${at}`, async ({ mutate }) => {
            mutate(write);
            await body.promise;
          }),
        ),
      ),
    );
    await stage.play();
    for (const body of bodies) body.resolve(1);
    await stage.runtime.settle();
    expect(stage.commits.map(({ mutations, boundary }) => [told(boundary), mutations !== null])).toEqual([
      ["s0 completed, continue", true],
      ["s1 completed, continue", true],
      ["complete", false],
    ]);
  });

  test("of a step the function did not wait for are not made", async () => {
    const [quick, order] = [held(), held()];
    const stage = stageOf((step) =>
      Promise.race([
        step.do("quick", () => quick.promise),
        step.do("order", async ({ mutate }) => {
          mutate(write);
          await order.promise;
        }),
      ]),
    );
    await stage.play();
    quick.resolve(1);
    order.resolve(2);
    await stage.runtime.settle();
    expect(stage.boundaries.map(told)).toEqual(["quick completed, complete"]);
    expect(stage.commits.map(({ mutations }) => mutations)).toEqual([null]);
  });

  test("are not lost with a neighbour's when a turn winds down", async () => {
    const bodies = [held(), held()];
    const writes = [(): void => {}, (): void => {}];
    const stage = stageOf((step) =>
      Promise.allSettled(
        bodies.map((body, at) =>
          step.do(`s${at}`, async ({ mutate }) => {
            mutate(writes[at] as () => void);
            await body.promise;
          }),
        ),
      ),
    );
    await stage.play();
    stage.hold();
    stage.turn.windDown();
    for (const body of bodies) {
      body.resolve(1);
      await stage.runtime.settle();
    }
    await stage.held[0]?.answer({
      kind: "mutation-failed",
      conflict: true,
      error: new Error("duplicate key"),
    });
    for (let at = 1; at < stage.held.length; at++) await stage.held[at]?.answer();
    const carried = stage.commits
      .filter(({ boundary }) =>
        boundary.steps.some(({ key, status }) => key === "s1" && status === "completed"),
      )
      .map(({ mutations }) => mutations?.mutate);
    expect(carried).toEqual([[writes[1]]]);
    expect(stage.step("s0").status).toBe("errored");
    expect(stage.step("s1").status).toBe("completed");
  });

  test("instances started and events sent by a step travel with its record, those of a failed attempt do not", async () => {
    const stage = stageOf((step) =>
      step.do("spawn", async ({ attempt, startWorkflow, sendEvent }) => {
        startWorkflow("child", { id: `child-${attempt}`, params: { n: 1 } });
        sendEvent({ workflow: "child", id: "other" }, { type: "hello", payload: attempt });
        if (attempt === 1) throw new Error("down");
      }),
    );
    await stage.play();
    await stage.runtime.advance(10_000);
    await stage.play();
    expect(stage.commits.map(({ alongside }) => alongside.length)).toEqual([0, 2]);
    expect(stage.commits[1]?.alongside).toMatchObject([
      { kind: "create", workflowName: "child", instanceId: "child-2", parent: { workflowName: "story" } },
      { kind: "sendEvent", workflowName: "child", instanceId: "other", type: "hello" },
    ]);
  });
});

describe("how a run ends", () => {
  test("bodies still in flight are void and named in one line", async () => {
    let signal: AbortSignal | undefined;
    const body = held();
    const stage = stageOf(async (step) => {
      void step.do("forgotten", (context) => {
        signal = context.signal;
        return body.promise;
      });
      await step.do("awaited", async () => 1);
      void step.do("never begun", async () => 2);
      return "done";
    });
    await stage.play();
    expect(stage.boundaries.map(told)).toEqual(["awaited completed, complete"]);
    expect(stage.logs).toMatchObject([
      { level: "warn", category: "system", message: expect.stringContaining('"forgotten"') },
    ]);
    expect(signal?.aborted).toBe(true);
    body.resolve("late");
    await stage.runtime.settle();
    expect(stage.commits).toHaveLength(1);
  });

  test("the same when it throws", async () => {
    const stage = stageOf(async (step) => {
      void step.do("forgotten", () => new Promise(() => {}));
      await step.do("awaited", async () => 1);
      throw new Error("enough");
    });
    await stage.play();
    expect(stage.last.next).toMatchObject({ kind: "error", error: { message: "enough" }, deadLetter: false });
    expect(stage.logs).toHaveLength(1);
  });

  test.each([
    ["undefined", undefined, { name: "Error", code: "UNKNOWN_ERROR" }],
    ["null", null, { name: "Error", code: "UNKNOWN_ERROR" }],
    ["text", "no", { name: "Error", message: "no" }],
    [
      "an error with its own name",
      new NonRetryableError("no", "Declined"),
      { name: "Declined", message: "no" },
    ],
  ])("thrown %s becomes an error that can be shown", async (_, thrown, expected) => {
    const stage = stageOf(async () => {
      throw thrown;
    });
    await stage.play();
    expect(stage.last.next).toMatchObject({ kind: "error", error: expected });
  });

  test("a result that cannot be kept errors the run and names the place", async () => {
    const circle: Record<string, unknown> = {};
    circle.self = { circle };
    const stage = stageOf(async () => ({ fn: () => 1 }));
    await stage.play();
    expect(stage.last.next).toMatchObject({ kind: "error", error: { code: "VALUE_NOT_SERIALIZABLE" } });
  });

  test("an output that does not fit its schema errors the run", async () => {
    const output: StandardSchema = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: async (value) =>
          typeof value === "number" ? { value } : { issues: [{ message: "not a number" }] },
      },
    };
    const stage = stageOf(async () => "text", { output });
    await stage.play();
    expect(stage.last.next).toMatchObject({ kind: "error", error: { code: "WORKFLOW_OUTPUT_INVALID" } });
  });

  test("an output over its limit errors the run", async () => {
    const stage = stageOf(async () => "x".repeat(100), { limits: { outputBytesMax: 50 } });
    await stage.play();
    expect(stage.last.next).toMatchObject({ kind: "error", error: { code: "PAYLOAD_TOO_LARGE" } });
  });
});

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

describe("what nobody awaits", () => {
  const unhandled: unknown[] = [];
  const listen = (reason: unknown): void => void unhandled.push(reason);

  afterEach(() => {
    process.off("unhandledRejection", listen);
    unhandled.length = 0;
  });

  test("a step that fails does not take the process down", async () => {
    process.on("unhandledRejection", listen);
    const stage = stageOf(async (step) => {
      void step.do("fails", once, async () => {
        throw new Error("nobody hears this");
      });
      void step.do("", async () => 1);
      void step.sleep("bad", "not a duration");
      void step.waitForEvent("bad", { type: "not a type" });
      void step.log.info("bad", {}, { category: "system" });
      await step.do("awaited", async () => 1);
      await step.do("also awaited", async () => 2);
      // The same failure once more, from the first answer.
      void step.do("fails", once, async () => 3);
      await step.sleep("nap", "1 minute");
    });
    await stage.play();
    await stage.runtime.advance(minute);
    await stage.play();
    expect(stage.ending).toMatchObject({ next: { kind: "complete" } });
    expect(unhandled).toEqual([]);
  });

  test("a failure that is awaited later is still heard then", async () => {
    process.on("unhandledRejection", listen);
    const stage = stageOf(async (step) => {
      const failing = step.do("fails", once, async () => {
        throw new Error("heard late");
      });
      await step.do("other", async () => 1);
      await step.do("another", async () => 2);
      return failing.catch((error) => error.message);
    });
    await stage.play();
    expect(stage.last.next).toMatchObject({ output: { json: '"heard late"' } });
    expect(unhandled).toEqual([]);
  });
});

describe("a history that cannot be read", () => {
  test("a damaged result ends this run with a code, and nothing else", async () => {
    const stage = stageOf(async (step) => {
      await step.do("a", async () => ({ n: 1 }));
      await step.sleep("nap", "1 minute");
    });
    await stage.play();
    stage.remember({ ...stage.step("a"), result: { json: '{"n":', marks: null } } as never);
    expect(await stage.play()).toMatchObject({
      kind: "ended",
      next: { kind: "error", error: { code: "HISTORY_UNREADABLE" } },
    });
  });

  test("a damaged event payload does too", async () => {
    const stage = stageOf((step) => step.waitForEvent("approval", { type: "approved" }));
    const event = stage.accept({ type: "approved" });
    stage.events = [{ ...event, payload: { json: "{", marks: null } }];
    expect(await stage.play()).toMatchObject({
      kind: "ended",
      next: { kind: "error", error: { code: "HISTORY_UNREADABLE" } },
    });
  });
});
