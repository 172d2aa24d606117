import { describe, expect, test } from "vitest";
import { waiting } from "../../../../tests/support/sample-records.ts";
import { httpClassifier } from "../authoring/classify.ts";
import { buildDefinition, type WorkflowOptions } from "../authoring/define-workflow.ts";
import { NonRetryableError, RetryAfterError, StepTimeoutError } from "../authoring/errors.ts";
import type { StepConfig, StepContext } from "../authoring/workflow-step.ts";
import { EverstepError } from "../model/error.ts";
import { systemRuntime } from "../system-runtime.ts";
import { attemptOutcome } from "./attempt-outcome.ts";
import { Body } from "./body.ts";
import { Call } from "./call.ts";
import { stepOptionsOf } from "./step-options.ts";

const now = 1000;
const timers: (() => void)[] = [];
const runtime = {
  ...systemRuntime,
  now: () => now,
  timer: (callback: () => void) => {
    timers.push(callback);
    return { cancel: () => {} };
  },
};
const context = { attempt: 1 } as StepContext;

function outcomeOf(
  thrown: unknown,
  {
    config,
    attempts = 0,
    ...options
  }: Partial<WorkflowOptions> & { config?: StepConfig; attempts?: number } = {},
) {
  const definition = buildDefinition({ name: "story", ...options }, () => {}, "everstep");
  const spec = {
    type: "do",
    name: "a",
    callback: null,
    options: stepOptionsOf(definition).resolve(config, "a"),
    wakeAt: null,
    durationMs: null,
    eventType: null,
    topic: null,
    onConsume: null,
  } as const;
  const record = attempts === 0 ? undefined : waiting({ key: "a", type: "do", attempts });
  const body = new Body(new Call(spec, "a", 1, null, record), attempts + 1, 0);
  return attemptOutcome({ ok: false, error: thrown }, body, context, definition, runtime);
}

describe("what a failed attempt means for the next one", () => {
  test("any error is retried after the step's own delay, which grows", () => {
    expect(outcomeOf(new Error("down"))).toMatchObject({ retryable: true, retryAt: now + 10_000 });
    expect(outcomeOf(new Error("down"), { attempts: 2 })).toMatchObject({ retryAt: now + 40_000 });
  });

  test.each([undefined, null, 0, "text"])("thrown %s is retried like any other", (thrown) => {
    expect(outcomeOf(thrown)).toMatchObject({ kind: "threw", retryable: true });
  });

  test("an attempt over its time is retried", () => {
    expect(outcomeOf(new StepTimeoutError("a", 5, 1))).toMatchObject({ retryable: true });
  });

  test.each([
    ["a NonRetryableError", new NonRetryableError("no")],
    ["one with a name of its own", new NonRetryableError("no", "Declined")],
    [
      "one of another copy of the library, by its name",
      Object.assign(new Error("no"), { name: "NonRetryableError" }),
    ],
    ["a mistake in the code", new EverstepError("DUPLICATE_STEP_KEY", "twice")],
    ["a value that cannot be kept", new EverstepError("VALUE_NOT_SERIALIZABLE", "function")],
  ])("%s is not retried", (_, error) => {
    expect(outcomeOf(error)).toMatchObject({ retryable: false });
  });

  test("the last attempt is the last", () => {
    expect(outcomeOf(new Error("down"), { attempts: 4 })).toMatchObject({ retryable: true });
    expect(outcomeOf(new Error("down"), { attempts: 5 })).toMatchObject({ retryable: false });
    const config = { retries: { limit: Number.POSITIVE_INFINITY, maxDelay: 5 } };
    expect(outcomeOf(new Error("down"), { attempts: 5000, config })).toMatchObject({
      retryable: true,
      retryAt: now + 5,
    });
  });

  test("an error may say when it wants to be asked again, exactly", () => {
    expect(outcomeOf(new RetryAfterError("busy", "7 seconds"))).toMatchObject({ retryAt: now + 7000 });
    expect(outcomeOf(new RetryAfterError("busy", new Date(now + 3)))).toMatchObject({ retryAt: now + 3 });
  });

  test("asking for more time gives no more attempts", () => {
    expect(outcomeOf(new RetryAfterError("busy", 7), { attempts: 5 })).toMatchObject({ retryable: false });
  });

  test.each([
    ["5xx is retried", { status: 503 }, { retryable: true, retryAt: now + 10_000 }],
    [
      "429 after what it asks for",
      { status: 429, headers: { "retry-after": "12" } },
      { retryable: true, retryAt: now + 12_000 },
    ],
    ["another 4xx is not", { status: 404 }, { retryable: false }],
    ["failed validation is not", { issues: [] }, { retryable: false }],
  ])("with a classifier, %s", (_, facts, expected) => {
    const error = Object.assign(new Error("http"), facts);
    expect(outcomeOf(error, { classify: httpClassifier })).toMatchObject(expected);
  });

  test("a classifier that throws has no say", () => {
    const classify = (): never => {
      throw new Error("mistake");
    };
    expect(outcomeOf(new Error("down"), { classify })).toMatchObject({
      retryable: true,
      retryAt: now + 10_000,
    });
  });

  test("a delay function decides with the failure before it, and backoff still applies", async () => {
    const seen: unknown[] = [];
    const delay = async (failure: { error: Error }): Promise<string> => {
      seen.push(failure.error.message);
      return "2 seconds";
    };
    const outcome = outcomeOf("text", { attempts: 1, config: { retries: { delay } } });
    expect(outcome).toBeInstanceOf(Promise);
    expect(await outcome).toMatchObject({ retryable: true, retryAt: now + 4000 });
    expect(seen).toEqual(["text"]);
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("mistake");
      },
    ],
    ["gives nonsense", () => "soon"],
    ["gives nothing", () => undefined as never],
  ])("a delay function that %s ends the retries", async (_, delay) => {
    expect(await outcomeOf(new Error("down"), { config: { retries: { delay } } })).toMatchObject({
      retryable: false,
      error: { message: "down" },
    });
  });

  test("a delay function that never answers ends the retries after its time", async () => {
    timers.length = 0;
    const outcome = outcomeOf(new Error("down"), {
      config: { retries: { delay: () => new Promise(() => {}) } },
    });
    expect(timers).toHaveLength(1);
    timers[0]?.();
    expect(await outcome).toMatchObject({ retryable: false });
  });
});
