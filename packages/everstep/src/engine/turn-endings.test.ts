import { afterEach, describe, expect, test } from "vitest";
import { held, stagesOn, told } from "../../../../tests/support/turn-stage.ts";
import { NonRetryableError } from "../authoring/errors.ts";
import type { StandardSchema } from "../authoring/standard-schema.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);
const minute = 60_000;
const hour = 60 * minute;
const once = { retries: false } as const;

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
    const stage = stageOf(async () => "x".repeat(100), { limits: { maxOutputBytes: 50 } });
    await stage.play();
    expect(stage.last.next).toMatchObject({ kind: "error", error: { code: "PAYLOAD_TOO_LARGE" } });
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
