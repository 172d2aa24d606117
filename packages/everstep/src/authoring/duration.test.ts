import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EverstepError } from "../model/error.ts";
import { checkDuration, formatDuration, parseDuration } from "./duration.ts";

const what = 'sleep "cool-off"';
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

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

describe("a number is milliseconds", () => {
  test.each([
    [0, 0],
    [-0, 0],
    [1, 1],
    [499, 499],
    [999.5, 1000],
    [0.001, 1],
    [Number.MIN_VALUE, 1],
    [25 * day, 25 * day],
    [365 * day, 365 * day],
    [4.32e15, 4.32e15],
  ])("%d is %d ms, never early", (value, ms) => {
    expect(parseDuration(value, what)).toBe(ms);
  });
});

describe("text has a unit", () => {
  test.each([
    ["15", 15],
    ["0", 0],
    ["0.5", 1],
    ["1ms", 1],
    ["1 millisecond", 1],
    ["20 milliseconds", 20],
    ["1s", second],
    ["2 sec", 2 * second],
    ["2 secs", 2 * second],
    ["1 second", second],
    ["0.5 seconds", 500],
    ["0.0001 seconds", 1],
    ["1m", minute],
    ["1 min", minute],
    ["5 mins", 5 * minute],
    ["1 minute", minute],
    ["90 minutes", 90 * minute],
    ["1h", hour],
    ["1.5h", 1.5 * hour],
    ["2 hr", 2 * hour],
    ["2 hrs", 2 * hour],
    ["1 hour", hour],
    ["24 HOURS", day],
    ["1d", day],
    ["1 Day", day],
    ["365 days", 365 * day],
    ["1w", 7 * day],
    ["1 week", 7 * day],
    ["2 weeks", 14 * day],
    ["1 month", 30 * day],
    ["2 months", 60 * day],
    ["1y", 365 * day],
    ["1 year", 365 * day],
    ["0.5 years", 182.5 * day],
    [".5 s", 500],
    ["007 s", 7 * second],
    ["  10   seconds  ", 10 * second],
    ["10\tseconds", 10 * second],
  ])("%j is %d ms", (value, ms) => {
    expect(parseDuration(value, what)).toBe(ms);
    expect(parseDuration(value, what)).toBe(ms);
  });

  test("a decimal means what it says, whatever its binary form", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 99_999 }),
        fc.constantFrom(["s", second], ["m", minute], ["h", hour]),
        (n, [unit, size]) => {
          const thousandths = `${Math.floor(n / 1000)}.${String(n % 1000).padStart(3, "0")}${unit}`;
          expect(parseDuration(thousandths, what)).toBe((n * (size as number)) / 1000);
        },
      ),
    );
  });

  test("more texts than the cache holds stay right", () => {
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 1000; n++) expect(parseDuration(`${n} seconds`, what)).toBe(n * second);
    }
  });
});

describe("everything else is refused before it can do harm", () => {
  const refused: [string, unknown, string][] = [
    ["NaN", Number.NaN, "NaN"],
    ["Infinity", Number.POSITIVE_INFINITY, "Infinity"],
    ["-Infinity", Number.NEGATIVE_INFINITY, "-Infinity"],
    ["a negative number", -1, "-1"],
    ["a number beyond any date", 1e20, "100000000000000000000"],
    ["a bigint", 5n, "a bigint"],
    ["undefined", undefined, "undefined"],
    ["null", null, "null"],
    ["a boolean", true, "a boolean"],
    ["a Date", new Date(5), "an object"],
    ["an object that pretends to be a number", { valueOf: () => 5, toString: () => "5" }, "an object"],
    ["a list", ["5 s"], "an object"],
    ["a function", () => 5, "a function"],
    ["a symbol", Symbol("s"), "a symbol"],
    ["empty text", "", '""'],
    ["blank text", "  ", '"  "'],
    ["a fruit", "banana", '"banana"'],
    ["an unknown unit", "10 parsecs", '"10 parsecs"'],
    ["a unit named after a property of every object", "1 constructor", '"1 constructor"'],
    ["no number", "seconds", '"seconds"'],
    ["a negative text", "-5 s", '"-5 s"'],
    ["a signed text", "+5 s", '"+5 s"'],
    ["an exponent", "1e3", '"1e3"'],
    ["hexadecimal", "0x10", '"0x10"'],
    ["a comma", "1,5 s", '"1,5 s"'],
    ["two dots", "1.2.3 s", '"1.2.3 s"'],
    ["a dot without digits", "5. s", '"5. s"'],
    ["two durations", "1h 30m", '"1h 30m"'],
    ["Infinity as text", "Infinity s", '"Infinity s"'],
    ["too many years", "99999999999 years", '"99999999999 years"'],
    ["other digits", "٣ s", '"٣ s"'],
    ["a NUL", "5 s\0", '"5 s\\u0000"'],
    ["a number with a hundred zeros", `${"0".repeat(100)}5 s`, `"${"0".repeat(39)}…"`],
    ["text that is too long", `${"1".repeat(100)} s`, `"${"1".repeat(39)}…"`],
  ];

  test.each(refused)("%s", (_name, value, shown) => {
    const error = failure(() => parseDuration(value, what));
    expect(error.code).toBe("INVALID_DURATION");
    expect(error.message).toBe(
      `${what} is not a duration: ${shown}. Use milliseconds (1500) or text with a unit ("30 seconds", "1.5h", "7 days").`,
    );
  });

  test.each(["1", " ", "1 ", "s", "1.", "1s"])("a megabyte of %j costs nothing", (piece) => {
    const text = piece.repeat(1_000_000 / piece.length);
    expect(failure(() => parseDuration(text, what)).code).toBe("INVALID_DURATION");
    expect(fastest(() => failure(() => parseDuration(text, what)))).toBeLessThan(5);
  });

  test("any text is milliseconds or a typed error", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9. ]{0,6}[a-z]{0,8}$/)), (text) => {
        try {
          const ms = parseDuration(text, what);
          expect(Number.isSafeInteger(ms) && ms >= 0).toBe(true);
        } catch (error) {
          expect((error as EverstepError).code).toBe("INVALID_DURATION");
        }
      }),
    );
  });
});

describe("bounds", () => {
  test("are part of what is allowed", () => {
    const bounds = { min: second, max: 365 * day };
    for (const ms of [second, day, 365 * day]) expect(checkDuration(ms, bounds, what)).toBe(ms);
    expect(checkDuration(0, {}, what)).toBe(0);
    expect(checkDuration(365 * day, { max: Number.POSITIVE_INFINITY }, what)).toBe(365 * day);
  });

  test.each([
    [366 * day, { max: 365 * day }, `${what} must be at most 365 days, not 366 days.`],
    [999, { min: second, max: day }, `${what} must be at least 1 second, not 999 ms.`],
    [0, { min: 1 }, `${what} must be at least 1 ms, not 0 ms.`],
    [Number.NaN, { min: 0, max: 5 }, `${what} must be at least 0 ms, not NaN ms.`],
  ])("%d outside of %o is refused in words", (ms, bounds, sentence) => {
    const error = failure(() => checkDuration(ms, bounds, what));
    expect([error.code, error.message]).toEqual(["INVALID_DURATION", sentence]);
  });
});

test.each([
  [0, "0 ms"],
  [1, "1 ms"],
  [150, "150 ms"],
  [1500, "1500 ms"],
  [second, "1 second"],
  [90 * second, "90 seconds"],
  [10 * minute, "10 minutes"],
  [hour, "1 hour"],
  [day, "1 day"],
  [365 * day, "365 days"],
  [0.5, "0.5 ms"],
])("%d ms is said as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
