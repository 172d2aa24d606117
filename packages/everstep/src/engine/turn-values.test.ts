import { describe, expect, test } from "vitest";
import { held, stagesOn, told } from "../../../../tests/support/turn-stage.ts";
import { NonRetryableError } from "../authoring/errors.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);
const minute = 60_000;
const once = { retries: false } as const;

describe("what the workflow sees first equals what it sees after a crash", () => {
  test.each([
    ["null", null],
    ["undefined", undefined],
    ["false", false],
    ["0", 0],
    ["-0", -0],
    ["NaN", Number.NaN],
    ["empty text", ""],
    ["an empty list", []],
    ["a date", new Date(5)],
    ["a map", new Map([["a", new Set([1n])]])],
    ["nested undefined", { a: undefined, b: [undefined] }],
  ])("%s is itself, live and on replay, and its body runs once", async (_, value) => {
    const seen: unknown[] = [];
    let runs = 0;
    const stage = stageOf(async (step) => {
      seen.push(
        await step.do("a", async () => {
          runs++;
          return value;
        }),
      );
      await step.sleep("nap", "1 minute");
    });
    await stage.play();
    await stage.play();
    expect(runs).toBe(1);
    expect(seen).toStrictEqual([value, value]);
    expect(Object.is(seen[0], seen[1]) || typeof value === "object").toBe(true);
  });

  test("a result is detached from the body's own object at once", async () => {
    const original = { items: [1], at: new Date(5) };
    const seen: unknown[] = [];
    const stage = stageOf(async (step) => {
      const result = await step.do("a", async () => original);
      expect(result).not.toBe(original);
      expect(result.at).toBeInstanceOf(Date);
      seen.push(structuredClone(result));
      original.items.push(2);
      result.items.push(3);
      await step.do("b", async () => 1);
      await step.sleep("nap", "1 minute");
    });
    await stage.play();
    await stage.play();
    expect(seen).toEqual(Array(2).fill({ items: [1], at: new Date(5) }));
  });

  test("what is an instance of a class on the first pass is plain there too", async () => {
    const kinds: unknown[] = [];
    const stage = stageOf(async (step) => {
      const result = await step
        .do("a", once, async () => ({ text: new String("boxed") }))
        .catch((error) => error.code);
      kinds.push(result);
      await step.sleep("nap", "1 minute");
    });
    await stage.play();
    await stage.play();
    expect(kinds[0]).toEqual(kinds[1]);
  });

  test("payload and timestamp are the same in every passage, whatever was done to them", async () => {
    const seen: unknown[] = [];
    const stage = stageOf(async (step, event) => {
      seen.push([structuredClone(event.payload), event.timestamp.getTime(), event.instanceId]);
      event.payload.items.push("mine");
      event.timestamp.setFullYear(1999);
      await step.sleep("nap", "1 minute");
    });
    const params = { json: '{"items":[]}', marks: null };
    const createdAt = 5_000;
    await stage.play({ params, createdAt });
    await stage.play({ params, createdAt });
    expect(seen).toEqual(Array(2).fill([{ items: [] }, 5_000, "one"]));
  });

  test("an error is the same one on replay: class, name, message and properties", async () => {
    const seen: unknown[] = [];
    const thrown = Object.assign(new NonRetryableError("declined", "CardDeclined"), { status: 402 });
    const stage = stageOf(async (step) => {
      await step
        .do("charge", async () => {
          throw thrown;
        })
        .catch((error) => {
          seen.push([
            error instanceof NonRetryableError,
            error.name,
            error.message,
            error.status,
            error === thrown,
          ]);
        });
      await step.sleep("nap", "1 minute");
    });
    await stage.play();
    await stage.play();
    expect(seen).toEqual(Array(2).fill([true, "CardDeclined", "declined", 402, false]));
  });

  test.each([
    ["a function", () => () => 1, "VALUE_NOT_SERIALIZABLE"],
    ["a symbol", () => Symbol("s"), "VALUE_NOT_SERIALIZABLE"],
    ["more than the limit", () => "x".repeat(200), "PAYLOAD_TOO_LARGE"],
  ])("%s as a result fails the step at once, without a retry", async (_, value, code) => {
    let runs = 0;
    const stage = stageOf(
      (step) =>
        step.do("a", async () => {
          runs++;
          return value();
        }),
      { limits: { maxResultBytes: 100 } },
    );
    expect(await stage.play()).toMatchObject({ next: { kind: "error", error: { code } } });
    expect(runs).toBe(1);
    expect(stage.step("a")).toMatchObject({ status: "errored", attempts: 1 });
  });

  test("the idempotency key is the same on every attempt and names run and step", async () => {
    const keys: string[] = [];
    const stage = stageOf((step) =>
      step.do("charge", async ({ idempotencyKey, attempt }) => {
        keys.push(idempotencyKey);
        if (attempt === 1) throw new Error("down");
      }),
    );
    await stage.play();
    await stage.runtime.advance(10_000);
    await stage.play();
    expect(keys).toEqual(Array(2).fill("story/one/1/charge"));
  });

  test("a name used again is a step of its own, also after a failure, and answers so on replay", async () => {
    let runs = 0;
    const fail = async (): Promise<never> => {
      throw new Error(`down ${++runs}`);
    };
    const stage = stageOf(async (step) => [
      await step.do("a", async () => "first"),
      await step.do("a", async () => "second"),
      await step.do("b", once, fail).catch((error) => error.message),
      await step.do("b", once, fail).catch((error) => error.message),
      await step.sleep("b", 1000),
    ]);
    await stage.play();
    await stage.runtime.advance(1000);
    await stage.play();
    expect(stage.last.next).toMatchObject({ output: { json: '["first","second","down 1","down 2",null]' } });
    expect(stage.steps.map(({ key, count }) => [key, count])).toEqual([
      ["a", 1],
      ["a#2", 2],
      ["b", 1],
      ["b#2", 2],
      ["b#3", 3],
    ]);
  });
});

describe("log lines", () => {
  test("ride with the next boundary and ask for none of their own", async () => {
    const stage = stageOf(async (step) => {
      await step.log.info("begin", { n: 1 });
      await step.do("a", async () => step.log.debug("inside", undefined, { category: "billing" }));
      await step.log.warn("after a");
      await step.do("b", async () => 2);
      await step.log.error("end");
    });
    await stage.play();
    expect(stage.boundaries.map(told)).toEqual(["a completed, continue", "b completed, complete"]);
    expect(stage.boundaries.map(({ logs }) => logs.map(({ message }) => message))).toEqual([
      ["begin", "inside", "after a"],
      ["end"],
    ]);
    expect(stage.logs[0]).toMatchObject({
      stepKey: null,
      attempt: null,
      level: "info",
      category: "workflow",
    });
    expect(stage.logs[0]?.data).toEqual({ json: '{"n":1}', marks: null });
    expect(stage.logs[1]).toMatchObject({ stepKey: "a", attempt: 1, level: "debug", category: "billing" });
  });

  test("are flagged when a replay writes them again, and not before or after", async () => {
    const stage = stageOf(async (step) => {
      await step.log.info("begin");
      await step.do("a", async () => 1);
      await step.log.info("after a");
      await step.sleep("nap", "1 minute");
      await step.log.info("after nap");
      await step.do("b", async () => 2);
      await step.log.info("after b");
    });
    await stage.play();
    await stage.runtime.advance(minute);
    await stage.play();
    expect(stage.logs.map(({ message, isReplay }) => [message, isReplay])).toEqual([
      ["begin", false],
      ["after a", false],
      ["begin", true],
      ["after a", true],
      ["after nap", false],
      ["after b", false],
    ]);
  });

  test("of a turn that goes on in memory are written once", async () => {
    const stage = stageOf(async (step) => {
      await step.log.info("begin");
      await step.sleep("nap", "1 minute");
      await step.log.info("after nap");
    });
    await stage.play();
    await stage.runtime.advance(minute);
    await stage.resume();
    expect(stage.logs.map(({ message, isReplay }) => [message, isReplay])).toEqual([
      ["begin", false],
      ["after nap", false],
    ]);
  });

  test("of a retried body carry the attempt they belong to and are no replay", async () => {
    const stage = stageOf((step) =>
      step.do("a", async ({ attempt }) => {
        await step.log.info(`try ${attempt}`);
        if (attempt === 1) throw new Error("down");
      }),
    );
    await stage.play();
    await stage.runtime.advance(10_000);
    await stage.play();
    expect(stage.logs).toMatchObject([
      { message: "try 1", attempt: 1, isReplay: false },
      { message: "try 2", attempt: 2, isReplay: false },
    ]);
  });

  test("of steps at the same time carry their own step", async () => {
    const bodies = [held(), held()];
    const stage = stageOf((step) =>
      Promise.all(
        bodies.map((body, at) =>
          step.do(`s${at}`, async () => {
            await body.promise;
            await step.log.info(`from ${at}`);
          }),
        ),
      ),
    );
    await stage.play();
    bodies[1]?.resolve(1);
    bodies[0]?.resolve(1);
    await stage.runtime.settle();
    expect(stage.logs.map(({ message, stepKey }) => [message, stepKey])).toEqual([
      ["from 1", "s1"],
      ["from 0", "s0"],
    ]);
  });

  test("of a long body are kept when the runner asks, with what else is known", async () => {
    const body = held();
    const stage = stageOf((step) =>
      step.do("long", async () => {
        await step.log.info("half way");
        await body.promise;
      }),
    );
    await stage.play();
    expect(stage.commits).toEqual([]);
    stage.turn.flushLogs();
    await stage.runtime.settle();
    expect(stage.boundaries).toMatchObject([
      { next: { kind: "continue" }, logs: [{ message: "half way" }], begun: [{ key: "long" }] },
    ]);
    stage.turn.flushLogs();
    await stage.runtime.settle();
    expect(stage.commits).toHaveLength(1);
  });

  test("of a body that is void are dropped", async () => {
    const body = held();
    const stage = stageOf((step) =>
      Promise.all([
        step
          .do("slow", { timeout: "1 second", ...once }, async () => {
            await body.promise;
            await step.log.info("too late");
          })
          .catch(() => {}),
        step.sleep("nap", "1 minute"),
      ]),
    );
    await stage.play();
    await stage.runtime.advance(1000);
    body.resolve(1);
    await stage.runtime.settle();
    await stage.runtime.advance(minute);
    await stage.play();
    expect(stage.logs).toEqual([]);
  });

  test("never fail a workflow for their data", async () => {
    const stage = stageOf(
      async (step) => {
        await step.log.info("function", { fn: () => 1 });
        await step.log.info("large", "x".repeat(200));
        await step.log.info("m".repeat(5000));
      },
      { limits: { maxLogBytes: 100 } },
    );
    expect(await stage.play()).toMatchObject({ next: { kind: "complete" } });
    expect(stage.logs.map(({ data }) => data?.json.slice(0, 11))).toEqual([
      '{"dropped":',
      '{"dropped":',
      undefined,
    ]);
    expect(stage.logs[2]?.message).toHaveLength(2048);
  });
});
