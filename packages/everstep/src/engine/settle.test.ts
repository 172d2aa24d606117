import { describe, expect, test } from "vitest";
import { json } from "../../../../tests/support/sample-records.ts";
import { errorLimits } from "../model/limits.ts";
import { type StepBase, settle } from "./settle.ts";

const before = (facts: Partial<StepBase> = {}): StepBase => ({
  index: 3,
  key: "a",
  name: "a",
  count: 1,
  type: "do",
  parentKey: null,
  depth: 0,
  createdAt: 5,
  attempts: 0,
  starts: 1,
  maxAttempts: 3,
  timeoutMs: 1000,
  errors: [],
  eventType: null,
  topic: null,
  wakeAt: null,
  ...facts,
});
const error = { name: "Error", message: "down" };
const threw = (retryable: boolean) => ({ kind: "threw", error, retryable, retryAt: 70 }) as const;

describe("settle", () => {
  test("a value completes the step and counts as an attempt", () => {
    expect(settle(before({ attempts: 1 }), { kind: "returned", result: json(7) }, 50)).toEqual({
      ...before(),
      attempts: 2,
      status: "completed",
      result: json(7),
      settledAt: 50,
    });
  });

  test("a failure with attempts left waits for its next time, and keeps the error with that time", () => {
    expect(settle(before(), threw(true), 50)).toEqual({
      ...before(),
      attempts: 1,
      errors: [{ attempt: 1, at: 50, error, retryAt: 70 }],
      status: "waiting",
      waitsFor: "retry",
      wakeAt: 70,
    });
  });

  test.each([
    ["the last attempt", before({ attempts: 2 }), threw(true), "errored"],
    ["the one before the last", before({ attempts: 1 }), threw(true), "waiting"],
    ["an error that must not be retried", before(), threw(false), "errored"],
    ["any attempt without limit", before({ attempts: 9999, maxAttempts: null }), threw(true), "waiting"],
    ["the only attempt", before({ maxAttempts: 1 }), threw(true), "errored"],
    ["more attempts recorded than allowed now", before({ attempts: 8 }), threw(true), "errored"],
  ])("%s: %s", (_, base, outcome, status) => {
    expect(settle(base, outcome, 50).status).toBe(status);
  });

  test("a step that failed for good keeps every error and the last one", () => {
    const first = { attempt: 1, at: 10, error: { name: "Error", message: "first" }, retryAt: 30 };
    const settled = settle(before({ attempts: 2, starts: 4, errors: [first] }), threw(true), 50);
    expect(settled).toMatchObject({ status: "errored", error, settledAt: 50, attempts: 3 });
    // No time of a next attempt. The number of the start, which a crash may have raised above the number of attempts.
    expect(settled.errors).toEqual([first, { attempt: 4, at: 50, error }]);
  });

  test("the oldest errors give way", () => {
    const many = Array.from({ length: errorLimits.attemptsKept }, (_, at) => ({
      attempt: at + 1,
      at,
      error,
    }));
    const settled = settle(
      before({ attempts: 100, starts: 101, maxAttempts: null, errors: many }),
      threw(true),
      50,
    );
    expect(settled.errors).toHaveLength(errorLimits.attemptsKept);
    expect(settled.errors[0]?.attempt).toBe(2);
    expect(settled.errors.at(-1)?.attempt).toBe(101);
  });

  test("what it was given stays as it was", () => {
    const given = Object.freeze(before({ errors: Object.freeze([]) as never }));
    settle(given, threw(true), 50);
    expect(given.errors).toEqual([]);
  });
});
