import { describe, expect, test } from "vitest";
import { buildDefinition, type WorkflowOptions } from "../authoring/define-workflow.ts";
import type { StepConfig } from "../authoring/workflow-step.ts";
import { EverstepError } from "../model/error.ts";
import { type StepOptions, StepOptionsResolver, stepOptionsOf } from "./step-options.ts";

const definition = (options: Partial<WorkflowOptions> = {}) =>
  buildDefinition({ name: "story", ...options }, () => {}, "everstep");
const resolve = (config?: unknown, options: Partial<WorkflowOptions> = {}): StepOptions =>
  new StepOptionsResolver(definition(options)).resolve(config, "a");

const minute = 60_000;

describe("what a step's author leaves out", () => {
  test("keeps the defaults: 5 retries, 10 seconds, exponential, 10 minutes", () => {
    expect(resolve()).toMatchObject({
      maxAttempts: 6,
      delay: 10_000,
      backoff: "exponential",
      factor: 2,
      maxDelayMs: null,
      timeoutMs: 10 * minute,
      repeat: false,
      failWhenInterrupted: false,
    });
  });

  test.each<[string, StepConfig, Partial<StepOptions>]>([
    [
      "a delay alone",
      { retries: { delay: "1 second" } },
      { maxAttempts: 6, delay: 1000, backoff: "exponential" },
    ],
    ["a limit alone", { retries: { limit: 2 } }, { maxAttempts: 3, delay: 10_000, backoff: "exponential" }],
    [
      "a backoff alone",
      { retries: { backoff: "linear" } },
      { maxAttempts: 6, delay: 10_000, backoff: "linear" },
    ],
    ["a timeout alone", { timeout: "1 hour" }, { maxAttempts: 6, timeoutMs: 60 * minute }],
    ["a cap", { retries: { maxDelay: "1 minute" } }, { maxAttempts: 6, maxDelayMs: minute }],
    ["no retries", { retries: false }, { maxAttempts: 1 }],
    ["a limit of none", { retries: { limit: 0 } }, { maxAttempts: 1 }],
    ["no limit", { retries: { limit: Number.POSITIVE_INFINITY } }, { maxAttempts: null }],
    ["more than anybody makes", { retries: { limit: 1_000_000_000 } }, { maxAttempts: null }],
    ["the largest whole number", { retries: { limit: Number.MAX_SAFE_INTEGER } }, { maxAttempts: null }],
    ["the largest number", { retries: { limit: Number.MAX_VALUE } }, { maxAttempts: null }],
    ["many", { retries: { limit: 999_999_999 } }, { maxAttempts: 1_000_000_000 }],
    ["an empty object", {}, { maxAttempts: 6, timeoutMs: 10 * minute }],
    ["repeat", { repeat: true }, { repeat: true }],
    ["ifInterrupted", { ifInterrupted: "fail" }, { failWhenInterrupted: true }],
  ])("%s changes only itself", (_, config, expected) => {
    expect(resolve(config)).toMatchObject(expected);
  });

  test("ifInterrupted of the workflow holds for its steps, unless a step has its own", () => {
    const workflow = { ifInterrupted: "fail" } as const;
    expect(resolve(undefined, workflow)).toMatchObject({ failWhenInterrupted: true });
    expect(resolve({ ifInterrupted: undefined }, workflow)).toMatchObject({ failWhenInterrupted: true });
    expect(resolve({ ifInterrupted: "retry" }, workflow)).toMatchObject({ failWhenInterrupted: false });
  });

  test("is taken from the workflow first, field by field", () => {
    const workflow = { retries: { limit: 2, delay: "1 minute" }, timeout: "5 minutes" };
    expect(resolve(undefined, workflow)).toMatchObject({
      maxAttempts: 3,
      delay: minute,
      timeoutMs: 5 * minute,
    });
    expect(resolve({ retries: { limit: 7 } }, workflow)).toMatchObject({
      maxAttempts: 8,
      delay: minute,
      backoff: "exponential",
      timeoutMs: 5 * minute,
    });
  });

  test("counts as left out when it is undefined", () => {
    const workflow = { retries: { limit: 2, delay: "1 minute" } };
    const config = { retries: { limit: undefined, delay: undefined, backoff: "constant" } };
    expect(resolve(config, workflow)).toMatchObject({ maxAttempts: 3, delay: minute, backoff: "constant" });
  });

  test("a workflow without retries has none unless a step asks for them", () => {
    expect(resolve(undefined, { retries: false }).maxAttempts).toBe(1);
    expect(resolve({ retries: { limit: 3 } }, { retries: false }).maxAttempts).toBe(4);
  });

  test.each([undefined, null])("%s in place of a configuration means none", (config) => {
    expect(resolve(config)).toMatchObject({ maxAttempts: 6 });
  });
});

describe("the same in other words", () => {
  test.each<[string, StepConfig, Partial<StepOptions>]>([
    ["maxAttempts counts attempts", { maxAttempts: 3 }, { maxAttempts: 3 }],
    ["maxAttempts beyond all counting", { maxAttempts: 2 ** 53 }, { maxAttempts: null }],
    ["maxAttempts without limit", { maxAttempts: Number.POSITIVE_INFINITY }, { maxAttempts: null }],
    ["intervalSeconds", { intervalSeconds: 2 }, { delay: 2000 }],
    ["half a second", { intervalSeconds: 0.5 }, { delay: 500 }],
    ["backoffRate", { backoffRate: 3 }, { factor: 3, backoff: "exponential" }],
    ["timeoutSeconds", { timeoutSeconds: 90 }, { timeoutMs: 90_000 }],
    ["a fraction of timeoutSeconds", { timeoutSeconds: 0.25 }, { timeoutMs: 250 }],
    ["retriesAllowed: false", { retriesAllowed: false, maxAttempts: 9 }, { maxAttempts: 1 }],
    ["retriesAllowed: true changes nothing", { retriesAllowed: true }, { maxAttempts: 6 }],
    ["our own words win", { maxAttempts: 9, retries: { limit: 1 } }, { maxAttempts: 2 }],
    ["our own timeout wins", { timeoutSeconds: 9, timeout: "1 second" }, { timeoutMs: 1000 }],
  ])("%s", (_, config, expected) => {
    expect(resolve(config)).toMatchObject(expected);
  });
});

describe("what a callback sees of it", () => {
  test("is what its author wrote, with the defaults, and cannot be changed", () => {
    const { shown } = resolve({ retries: { delay: "1 second" }, timeout: "1 hour" });
    expect(shown).toEqual({
      retries: { limit: 5, delay: "1 second", backoff: "exponential" },
      timeout: "1 hour",
    });
    expect(Object.isFrozen(shown) && Object.isFrozen(shown.retries)).toBe(true);
  });
});

describe("bad input is refused with a code and the step's name", () => {
  test.each([
    ["text in place of an object", "often", "INVALID_STEP_CONFIG"],
    ["a number in place of an object", 3, "INVALID_STEP_CONFIG"],
    ["a negative limit", { retries: { limit: -1 } }, "INVALID_STEP_CONFIG"],
    ["a limit that is no number", { retries: { limit: Number.NaN } }, "INVALID_STEP_CONFIG"],
    ["a limit as text", { retries: { limit: "3" } }, "INVALID_STEP_CONFIG"],
    ["retries: true", { retries: true }, "INVALID_STEP_CONFIG"],
    ["retries: null", { retries: null }, "INVALID_STEP_CONFIG"],
    ["retries as a number", { retries: 3 }, "INVALID_STEP_CONFIG"],
    ["an unknown backoff", { retries: { backoff: "random" } }, "INVALID_STEP_CONFIG"],
    ["no attempts at all", { maxAttempts: 0 }, "INVALID_STEP_CONFIG"],
    ["attempts that are no number", { maxAttempts: Number.NaN }, "INVALID_STEP_CONFIG"],
    ["a shrinking backoff", { backoffRate: 0.5 }, "INVALID_STEP_CONFIG"],
    ["an endless backoff", { backoffRate: Number.POSITIVE_INFINITY }, "INVALID_STEP_CONFIG"],
    ["an unknown ifInterrupted", { ifInterrupted: "skip" }, "INVALID_STEP_CONFIG"],
    ["a negative delay", { retries: { delay: -1 } }, "INVALID_DURATION"],
    ["a delay that is no duration", { retries: { delay: "soon" } }, "INVALID_DURATION"],
    ["an interval that is no number", { intervalSeconds: Number.NaN }, "INVALID_DURATION"],
    ["a negative interval", { intervalSeconds: -1 }, "INVALID_DURATION"],
    ["no time at all", { timeout: 0 }, "INVALID_DURATION"],
    ["a timeout that is no duration", { timeout: "soon" }, "INVALID_DURATION"],
    ["timeoutSeconds that are no number", { timeoutSeconds: Number.NaN }, "INVALID_DURATION"],
    ["a cap that is no duration", { retries: { maxDelay: "soon" } }, "INVALID_DURATION"],
  ])("%s", (_, config, code) => {
    const error = (() => {
      try {
        return resolve(config);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(EverstepError);
    expect(error).toMatchObject({ code, message: expect.stringMatching(/\ba\b/) });
  });

  test("a timeout above the host's cap", () => {
    const limits = { maxStepTimeout: minute };
    expect(() => resolve({ timeout: "2 minutes" }, { limits, timeout: "1 minute" })).toThrow(
      /at most 1 minute/,
    );
    expect(resolve({ timeout: "1 minute" }, { limits, timeout: "1 minute" }).timeoutMs).toBe(minute);
  });

  test("any timeout without one", () => {
    expect(resolve({ timeout: "30 days" }).timeoutMs).toBe(30 * 24 * 60 * minute);
  });
});

describe("resolving", () => {
  test("is done once per configuration object and per workflow", () => {
    const own = definition();
    const config = { retries: { limit: 1 } };
    expect(stepOptionsOf(own)).toBe(stepOptionsOf(own));
    expect(stepOptionsOf(own).resolve(config, "a")).toBe(stepOptionsOf(own).resolve(config, "b"));
    expect(stepOptionsOf(own).resolve(undefined, "a")).toBe(stepOptionsOf(own).resolve(null, "b"));
  });
});

describe("a config object that steps share", () => {
  test("is resolved once while it stays the same", () => {
    const resolver = new StepOptionsResolver(definition());
    const config: StepConfig = { retries: { limit: 2 }, timeout: "1 minute" };
    expect(resolver.resolve(config, "b")).toBe(resolver.resolve(config, "a"));
  });

  test.each<
    [string, (config: { retries: { limit: number }; timeout: string }) => void, Partial<StepOptions>]
  >([
    [
      "itself",
      (config) => void Object.assign(config, { timeout: "2 minutes" }),
      { timeoutMs: 2 * minute, maxAttempts: 3 },
    ],
    ["in its retries", (config) => void Object.assign(config.retries, { limit: 7 }), { maxAttempts: 8 }],
    [
      "by other retries",
      (config) => void Object.assign(config, { retries: { limit: 8 } }),
      { maxAttempts: 9 },
    ],
    [
      "by a field more",
      (config) => void Object.assign(config, { ifInterrupted: "fail" }),
      { failWhenInterrupted: true },
    ],
  ])("counts as it is at the call, changed %s", (_, change, expected) => {
    const resolver = new StepOptionsResolver(definition());
    const config = { retries: { limit: 2 }, timeout: "1 minute" };
    resolver.resolve(config, "a");
    change(config);
    expect(resolver.resolve(config, "b")).toMatchObject(expected);
  });
});

describe("a backoffRate", () => {
  test.each(["constant", "linear"] as const)(
    "holds under a workflow whose steps have %s delays",
    (backoff) => {
      expect(resolve({ backoffRate: 3 }, { retries: { backoff } })).toMatchObject({
        backoff: "exponential",
        factor: 3,
      });
    },
  );

  test("gives way to a backoff the step itself names", () => {
    expect(resolve({ backoffRate: 3, retries: { backoff: "linear" } })).toMatchObject({ backoff: "linear" });
  });
});
