import { describe, expect, test } from "vitest";
import { json } from "../../../../../tests/support/sample-records.ts";
import {
  activeRecord,
  doneSleep,
  doneStep,
  doneWait,
  failedStep,
  foundBetween,
  openSleep,
  openWait,
  retryStep,
  runOf,
  timedOutWait,
} from "../../../../../tests/support/sample-run.ts";
import type { StepRecord } from "../../model/step.ts";

type Steps = readonly StepRecord[];

/** Under the same token, and under a later one: whoever it was, the step of a failed run may have been retried. */
const later = activeRecord({ token: 5 });
const run = (steps: Steps) => runOf(activeRecord(), steps);
const laterRun = (steps: Steps) => runOf(later, steps);
const failedTwice = {
  attempts: 2,
  starts: 2,
  errors: [1, 2].map((attempt) => ({ attempt, at: 1, error: { name: "E", message: "m" } })),
};

describe("steps go on", () => {
  test.each<[string, Steps, Steps]>([
    ["a new step", [doneStep({ key: "a" })], [doneStep({ key: "a" }), doneStep({ key: "b", index: 1 })]],
    [
      "a step that began earlier and ended later",
      [doneStep({ key: "b", index: 1 })],
      [doneStep({ key: "a", settledIndex: 2 }), doneStep({ key: "b", index: 1 })],
    ],
    [
      "another failed attempt",
      [retryStep({ key: "a" })],
      [retryStep({ key: "a", ...failedTwice, wakeAt: 30_000 })],
    ],
    [
      "a sleep that is over",
      [openSleep({ key: "a" })],
      [doneSleep({ key: "a", wakeAt: 20_000, settledAt: 20_000 })],
    ],
    [
      "a wait that timed out",
      [openWait({ key: "a" })],
      [timedOutWait({ key: "a", wakeAt: 20_000, settledAt: 20_000 })],
    ],
  ])("%s is sound", (_name, before, after) => {
    expect(foundBetween(run(before), run(after))).toEqual([]);
    expect(foundBetween(run(before), laterRun(after))).toEqual([]);
  });

  test.each<[string, Steps, Steps]>([
    ["the failed step is open again", [failedStep({ key: "a" })], [retryStep({ key: "a", maxAttempts: 2 })]],
    ["what was inside it is gone", [doneStep({ key: "a/b" })], []],
    [
      "what was inside it was done anew",
      [failedStep({ key: "a" }), doneStep({ key: "a/b", index: 1 })],
      [
        doneStep({ key: "a", settledIndex: 2, attempts: 2, starts: 2, errors: failedTwice.errors.slice(1) }),
        doneStep({ key: "a/b", index: 1, result: json("new") }),
      ],
    ],
  ])("after a retry of the failed step, under a later token: %s", (_name, before, after) => {
    expect(foundBetween(run(before), laterRun(after))).toEqual([]);
    expect(foundBetween(run(before), run(after))).not.toEqual([]);
  });
});

describe("INV-7 write once", () => {
  const before = [doneStep({ key: "a" })];
  test.each<[string, Steps]>([
    ["is gone", []],
    ["has another result", [doneStep({ key: "a", result: json("other") })]],
    ["is open again", [retryStep({ key: "a" })]],
    ["is another one", [doneStep({ key: "b" })]],
  ])("a completed step that %s is found, whatever the token", (_name, after) => {
    expect(foundBetween(run(before), run(after))[0]).toBe("INV-7");
    expect(foundBetween(run(before), laterRun(after))[0]).toBe("INV-7");
  });

  test("what is inside a completed step stays too", () => {
    const inside = [doneStep({ key: "a" }), doneStep({ key: "a/b", index: 1 })];
    expect(foundBetween(run(inside), laterRun(before))).toEqual(["INV-7"]);
  });

  test("an open step that became another one is found", () => {
    expect(foundBetween(run([openSleep({ key: "a" })]), laterRun([openWait({ key: "a" })]))).toContain(
      "INV-7",
    );
  });
});

test.each<[string, Steps]>([
  ["attempts", [retryStep({ key: "a", ...failedTwice, attempts: 1 })]],
  ["starts", [retryStep({ key: "a", ...failedTwice, starts: 1 })]],
])("INV-10 %s that shrank are found", (_name, after) => {
  expect(foundBetween(run([retryStep({ key: "a", ...failedTwice })]), laterRun(after))).toEqual(["INV-10"]);
});

test("INV-10 another limit of attempts is found, unless the failed step was given one more", () => {
  const before = run([retryStep({ key: "a" })]);
  const after = [retryStep({ key: "a", maxAttempts: 99 })];
  expect(foundBetween(before, run(after))).toEqual(["INV-10"]);
  expect(foundBetween(before, laterRun(after))).toEqual([]);
});

describe("INV-29 a time is computed once", () => {
  test.each<[string, Steps, Steps, string]>([
    [
      "an open sleep that ends earlier",
      [openSleep({ key: "a" })],
      [openSleep({ key: "a", wakeAt: 19_000 })],
      "INV-29",
    ],
    [
      "one that ends later",
      [openSleep({ key: "a" })],
      [openSleep({ key: "a", wakeAt: 21_000 })],
      "INV-29 unless time-given-anew",
    ],
    [
      "a wait with another end",
      [openWait({ key: "a" })],
      [doneWait({ key: "a", wakeAt: 19_000 })],
      "INV-29 unless time-given-anew",
    ],
    [
      "a retry at another time",
      [retryStep({ key: "a" })],
      [retryStep({ key: "a", wakeAt: 21_000 })],
      "INV-29 unless time-given-anew",
    ],
  ])("%s is found", (_name, before, after, found) => {
    expect(foundBetween(run(before), laterRun(after))).toEqual([found]);
  });
});

test("INV-17 a step that settled before one that had settled already is found", () => {
  const before = [doneStep({ key: "b", index: 1, settledIndex: 3 })];
  const after = [...before, doneStep({ key: "a", settledIndex: 2 })];
  expect(foundBetween(run(before), laterRun(after))).toEqual(["INV-17"]);
});
