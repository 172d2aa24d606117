import { describe, expect, test } from "vitest";
import { EverstepError } from "../model/error.ts";
import {
  isNonRetryable,
  NonRetryableError,
  RetryAfterError,
  StepTimeoutError,
  WaitForEventTimeoutError,
} from "./errors.ts";

describe("NonRetryableError", () => {
  test("has the name one would expect, or the one it is given", () => {
    expect(new NonRetryableError("no").name).toBe("NonRetryableError");
    expect(new NonRetryableError("no", "CardDeclined").name).toBe("CardDeclined");
    expect(String(new NonRetryableError("no", "CardDeclined"))).toBe("CardDeclined: no");
    expect(new NonRetryableError("no")).toBeInstanceOf(Error);
  });

  test("is not retried under any name", () => {
    class Declined extends NonRetryableError {
      override readonly name = "Declined";
    }
    expect(isNonRetryable(new NonRetryableError("no"))).toBe(true);
    expect(isNonRetryable(new NonRetryableError("no", "CardDeclined"))).toBe(true);
    expect(isNonRetryable(new Declined("no"))).toBe(true);
  });

  test("of another copy of the library counts, too", () => {
    const other = Object.assign(new Error("no"), { [Symbol.for("everstep.nonRetryable")]: true });
    const named = Object.assign(new Error("no"), { name: "NonRetryableError" });
    expect([isNonRetryable(other), isNonRetryable(named)]).toEqual([true, true]);
  });

  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  test("an error that has one as its cause is not retried either, however deep", () => {
    const inner = new NonRetryableError("inner");
    expect(isNonRetryable(new Error("outer", { cause: inner }))).toBe(true);
    expect(isNonRetryable(new Error("outer", { cause: { cause: inner } }))).toBe(true);
  });

  const circle = new Error("circle");
  circle.cause = new Error("more", { cause: circle });

  test.each<[string, unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["text", "NonRetryableError"],
    ["a number", 5],
    ["a symbol", Symbol.for("everstep.nonRetryable")],
    ["an Error whose message begins with the word", new Error("NonRetryableError: no")],
    [
      "a RetryAfterError, whatever its cause",
      Object.assign(new RetryAfterError("later", 1), { cause: new NonRetryableError("inner") }),
    ],
    ["an Error whose causes are a circle", circle],
    ["an Error with another name", Object.assign(new Error("no"), { name: "nonretryableerror" })],
    ["an unclear brand", { [Symbol.for("everstep.nonRetryable")]: "yes" }],
    ["a revoked proxy", revoked],
    [
      "a name that throws",
      {
        get name() {
          throw new Error("no name");
        },
      },
    ],
  ])("%s may be retried", (_name, error) => {
    expect(isNonRetryable(error)).toBe(false);
  });
});

describe("WaitForEventTimeoutError", () => {
  test("says what was waited for", () => {
    const error = new WaitForEventTimeoutError("approval", { eventType: "approved", timeoutMs: 86_400_000 });
    expect(error).toMatchObject({
      name: "WaitForEventTimeoutError",
      message: 'WAIT_FOR_EVENT_TIMEOUT: step "approval" got no event of type "approved" within 1 day.',
      code: "WAIT_FOR_EVENT_TIMEOUT",
      step: "approval",
      eventType: "approved",
    });
    expect("topic" in error).toBe(false);
    expect(new WaitForEventTimeoutError("approval", { topic: "a.b" })).toMatchObject({ topic: "a.b" });
  });

  test("is not retried", () => {
    const error = new WaitForEventTimeoutError("approval", {});
    expect(error).toBeInstanceOf(NonRetryableError);
    expect(isNonRetryable(error)).toBe(true);
  });
});

describe("StepTimeoutError", () => {
  test("says which attempt of which step took too long", () => {
    const error = new StepTimeoutError("charge", 150, 1);
    expect(error).toBeInstanceOf(EverstepError);
    expect(error).toMatchObject({
      name: "StepTimeoutError",
      code: "STEP_TIMEOUT",
      step: "charge",
      timeoutMs: 150,
      attempt: 1,
    });
    expect(error.message).toBe('Step "charge" timed out after 150 ms (attempt 1).');
    expect(new StepTimeoutError("charge", 600_000, 3).message).toBe(
      'Step "charge" timed out after 10 minutes (attempt 3).',
    );
  });

  test("is retried", () => {
    expect(isNonRetryable(new StepTimeoutError("charge", 150, 1))).toBe(false);
  });
});

describe("RetryAfterError", () => {
  test.each([
    [1500, 1500],
    ["30 seconds", 30_000],
    [0, 0],
  ])("%j is kept as %d ms", (given, ms) => {
    expect(new RetryAfterError("slow down", given).retryAfter).toBe(ms);
  });

  test("a Date is kept as the moment it is", () => {
    const at = new Date(5);
    expect(new RetryAfterError("slow down", at).retryAfter).toEqual(at);
  });

  test.each([-1, Number.NaN, "soon", new Date(Number.NaN)])("%j is refused where it is written", (given) => {
    expect(() => new RetryAfterError("slow down", given)).toThrow(
      expect.objectContaining({ code: "INVALID_DURATION" }),
    );
  });

  test("is retried", () => {
    expect(isNonRetryable(new RetryAfterError("slow down", 1))).toBe(false);
  });
});
