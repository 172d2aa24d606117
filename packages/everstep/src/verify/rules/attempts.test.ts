import { describe, expect, test } from "vitest";
import {
  activeRecord,
  doneStep,
  failedStep,
  foundIn,
  openSleep,
  openWait,
  retryStep,
  runOf,
} from "../../../../../tests/support/sample-run.ts";
import { errorLimits } from "../../model/limits.ts";
import type { AttemptError, StepRecord } from "../../model/step.ts";

const failures = (...starts: readonly number[]): readonly AttemptError[] =>
  starts.map((attempt) => ({ attempt, at: attempt, error: { name: "Error", message: "down" } }));

describe("INV-10 attempts are strict", () => {
  test.each<[string, StepRecord]>([
    ["completed at once", doneStep({ key: "a" })],
    [
      "completed at the third attempt",
      doneStep({ key: "a", attempts: 3, starts: 3, errors: failures(1, 2) }),
    ],
    ["completed after a crash", doneStep({ key: "a", starts: 2 })],
    [
      "failed, with crashes in between",
      failedStep({ key: "a", attempts: 2, starts: 5, errors: failures(2, 5) }),
    ],
    ["failed at its last attempt", failedStep({ key: "a", maxAttempts: 1 })],
    [
      "never begun, because a crash may not repeat it",
      failedStep({ key: "a", attempts: 0, starts: 0, errors: [] }),
    ],
    [
      "without a limit",
      failedStep({
        key: "a",
        attempts: 9,
        starts: 9,
        maxAttempts: null,
        errors: failures(1, 2, 3, 4, 5, 6, 7, 8, 9),
      }),
    ],
    [
      "tried more often than errors are kept",
      retryStep({
        key: "a",
        attempts: 150,
        starts: 150,
        maxAttempts: null,
        errors: failures(...Array.from({ length: errorLimits.attemptsKept }, (_, n) => n + 51)),
      }),
    ],
  ])("a step that is %s is sound", (_name, step) => {
    expect(foundIn(runOf(activeRecord(), [step]))).toEqual([]);
  });

  test.each<[string, StepRecord]>([
    [
      "more attempts than it may have",
      failedStep({ key: "a", attempts: 2, starts: 2, maxAttempts: 1, errors: failures(1, 2) }),
    ],
    ["more attempts than starts", doneStep({ key: "a", starts: 0 })],
    ["no attempt although it is completed", doneStep({ key: "a", attempts: 0, starts: 0 })],
    ["fewer errors than failures", failedStep({ key: "a", attempts: 2, starts: 2, errors: failures(2) })],
    ["an error though it was completed at once", doneStep({ key: "a", errors: failures(1) })],
    ["errors of the same start", failedStep({ key: "a", attempts: 2, starts: 2, errors: failures(1, 1) })],
    ["an error of a start that never was", failedStep({ key: "a", errors: failures(2) })],
    ["attempts of a sleep", openSleep({ key: "a", attempts: 1, starts: 1 })],
    ["errors of a wait", openWait({ key: "a", errors: failures(1) })],
  ])("a step with %s is found", (_name, step) => {
    expect(new Set(foundIn(runOf(activeRecord(), [step])))).toEqual(new Set(["INV-10"]));
  });
});

describe("INV-8 completed means never again", () => {
  const begun = [{ key: "a", name: "a", start: 2, at: 5 }];

  test.each<[string, readonly StepRecord[]]>([
    ["not recorded yet", []],
    ["waiting for its next attempt", [retryStep({ key: "a" })]],
    // What a crash left of a start that nobody took up.
    ["failed for good", [failedStep({ key: "a" })]],
  ])("the body of a step that is %s may have begun", (_name, steps) => {
    expect(foundIn(runOf(activeRecord({ begun }), steps))).toEqual([]);
  });

  test("the body of a completed step that began again is found", () => {
    expect(foundIn(runOf(activeRecord({ begun }), [doneStep({ key: "a" })]))).toEqual(["INV-8"]);
  });
});
