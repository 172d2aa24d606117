import { describe, expect, test } from "vitest";
import { EverstepError } from "../model/error.ts";
import { defaultLimits as limits } from "../model/limits.ts";
import {
  checkEventType,
  checkInstanceId,
  checkLogCategory,
  checkStepName,
  checkTopic,
  checkWorkflowName,
} from "./names.ts";

/** Milliseconds of the best of several runs, so that a busy machine does not decide. */
function fastest(action: () => unknown): number {
  const runs = Array.from({ length: 5 }, () => {
    const begin = performance.now();
    action();
    return performance.now() - begin;
  });
  return Math.min(...runs);
}

function failure(action: () => unknown): EverstepError {
  try {
    action();
  } catch (error) {
    if (error instanceof EverstepError) return error;
    throw error;
  }
  throw new Error("expected an EverstepError");
}

const notText: [string, unknown][] = [
  ["undefined", undefined],
  ["null", null],
  ["a number", 5],
  ["a boolean", true],
  ["a bigint", 5n],
  ["a symbol", Symbol("s")],
  ["a function", () => "name"],
  ["a list", ["name"]],
  ["an object that pretends to be text", { toString: () => "name", length: 4 }],
  ["a boxed text", Object("name")],
];

const checks = [
  { what: "A workflow name", check: checkWorkflowName, code: "INVALID_WORKFLOW_NAME", max: 64 },
  { what: "An instance id", check: checkInstanceId, code: "INVALID_INSTANCE_ID", max: 100 },
  { what: "An event type", check: checkEventType, code: "INVALID_EVENT_TYPE", max: 100 },
  { what: "A topic", check: checkTopic, code: "INVALID_TOPIC", max: 128 },
  { what: "A step name", check: checkStepName, code: "INVALID_STEP_NAME", max: 256 },
  { what: "A log category", check: checkLogCategory, code: "INVALID_LOG", max: 64 },
] as const;

describe.each(checks)("$what", ({ what, check, code, max }) => {
  test.each(["a", "1", "01", "1e3", "A", "_", "order-42", "a_b-C", "constructor", "__proto__", "toString"])(
    "may be %j",
    (name) => {
      expect(check(name, limits)).toBe(name);
    },
  );

  test(`has at most ${max} characters`, () => {
    expect(check("x".repeat(max), limits)).toBe("x".repeat(max));
    const error = failure(() => check("x".repeat(max + 1), limits));
    expect(error.code).toBe(code);
    expect(error.message).toContain(`${what} has at most ${max} characters, and this one has ${max + 1}`);
    expect(error.message.length).toBeLessThan(200);
  });

  test.each(notText)("is not %s", (_name, value) => {
    const error = failure(() => check(value, limits));
    expect(error.code).toBe(code);
    expect(error.message).toContain(`${what} is text`);
  });

  test.each(["", "a\0b", "a\nb", "a\tb", "a\u001fb", "a\ud83e", "\udd86a"])("is not %j", (value) => {
    expect(failure(() => check(value, limits)).code).toBe(code);
  });

  test.each(["a", "-", "\0", " ", "é"])("a megabyte of %j is refused at once", (piece) => {
    const text = piece.repeat(1_000_000);
    expect(failure(() => check(text, limits)).code).toBe(code);
    expect(fastest(() => failure(() => check(text, limits)))).toBeLessThan(5);
  });
});

describe.each(checks.slice(0, 3))("$what is one plain word", ({ check, code }) => {
  test.each(["-a", " a", "a ", "a b", "a.b", "a:b", "a/b", "é", "🦆", "a\n", "a\u2028", "../a", "%41"])(
    "not %j",
    (value) => {
      const error = failure(() => check(value, limits));
      expect(error.code).toBe(code);
      expect(error.message).toContain(
        'consists of letters, digits, "_" and "-", and does not begin with "-"',
      );
    },
  );
});

describe("a topic", () => {
  test.each(["order.paid", "a:b", "a-b", "tenant_1.order:paid-v2", "a..b", "a."])("may be %j", (topic) => {
    expect(checkTopic(topic, limits)).toBe(topic);
  });

  test.each([".a", ":a", "-a", "a b", "a/b", "é", "a*", "a\n"])("is not %j", (topic) => {
    const error = failure(() => checkTopic(topic, limits));
    expect(error.code).toBe("INVALID_TOPIC");
    expect(error.message).toContain('letters, digits, "_", ".", ":" and "-"');
  });
});

describe("a step name", () => {
  test.each([
    ["charge the card", "charge the card"],
    ["  charge  ", "charge"],
    ["charge\n", "charge"],
    ["заказ 🦆 (v2): 50% / €", "заказ 🦆 (v2): 50% / €"],
    [`${"x".repeat(256)}   `, "x".repeat(256)],
  ])("%j is kept as %j", (given, kept) => {
    expect(checkStepName(given, limits)).toBe(kept);
  });

  test("that is only space is empty", () => {
    expect(failure(() => checkStepName(" \n\t ", limits)).message).toContain("at least one character");
  });
});

describe("a log category", () => {
  test.each(["billing", "http client", "System of record"])("may be %j", (category) => {
    expect(checkLogCategory(category, limits)).toBe(category);
  });

  test.each(["system", "SYSTEM", " system "])("is not %j, which belongs to the engine", (category) => {
    const error = failure(() => checkLogCategory(category, limits));
    expect(error.code).toBe("INVALID_LOG");
    expect(error.message).toContain("reserved");
  });
});

test("a host may choose other limits", () => {
  expect(failure(() => checkWorkflowName("abcd", { ...limits, maxWorkflowNameLength: 3 })).message).toContain(
    "at most 3",
  );
});

test.each(["\u007f", "\u0080", "\u0085", "\u009b", "\u009f"])(
  "DEL and C1 controls have no place in a step name or a log category: %j",
  (control) => {
    for (const check of [checkStepName, checkLogCategory]) {
      expect(() => check(`a${control}b`, limits)).toThrow("no control characters");
    }
    expect(checkStepName("a\u00a0b", limits)).toBe("a\u00a0b");
  },
);
