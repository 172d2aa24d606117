import { describe, expect, test } from "vitest";
import {
  activeRecord,
  doneSleep,
  doneStep,
  doneWait,
  failedStep,
  foundIn,
  openSleep,
  openWait,
  retryStep,
  runOf,
  timedOutWait,
} from "../../../../../tests/support/sample-run.ts";
import type { StepRecord } from "../../model/step.ts";

test("steps of every shape, with gaps in their order, are sound", () => {
  const steps: readonly StepRecord[] = [
    doneStep({ key: "charge" }),
    failedStep({ key: "ship", index: 2, settledIndex: 4 }),
    doneSleep({ key: "nap", index: 3, settledIndex: 2 }),
    doneWait({ key: "paid", index: 5, settledIndex: 5 }),
    timedOutWait({ key: "signed", index: 6, settledIndex: 7 }),
    doneWait({ key: "news", index: 7, settledIndex: 8, eventType: null, topic: "news" }),
    retryStep({ key: "pack", index: 9 }),
    openSleep({ key: "rest", index: 10 }),
    openWait({ key: "signal", index: 11 }),
    // A step inside one that is not recorded yet, and one recorded before its outer step.
    doneStep({ key: "outer/inner", index: 12, settledIndex: 9 }),
    doneStep({ key: "late/inner", index: 13, settledIndex: 10 }),
    doneStep({ key: "late", index: 14, settledIndex: 11 }),
  ];
  expect(foundIn(runOf(activeRecord(), steps))).toEqual([]);
});

describe("INV-7, INV-15, INV-17 a step is recorded once", () => {
  test.each([
    ["two steps with one key", doneStep({ key: "charge", index: 1, settledIndex: 1 }), "INV-7"],
    ["two steps with one index", doneStep({ key: "ship", settledIndex: 1 }), "INV-15"],
    ["two steps handed over at once", doneStep({ key: "ship", index: 1, settledIndex: 0 }), "INV-17"],
  ])("%s are found", (_name, other, invariant) => {
    expect(foundIn(runOf(activeRecord(), [doneStep({ key: "charge" }), other]))).toEqual([invariant]);
  });
});

describe("INV-15 what a step says of itself fits together", () => {
  test.each<[string, StepRecord]>([
    ["a sleep that waits for a retry", openSleep({ key: "nap", waitsFor: "retry" })],
    ["a step that waits for an event", retryStep({ key: "pack", waitsFor: "event" })],
    ["a wait for neither a type nor a topic", openWait({ key: "paid", eventType: null })],
    ["a wait for both a type and a topic", openWait({ key: "paid", topic: "news" })],
    ["a sleep that never had an end", doneSleep({ key: "nap", wakeAt: null })],
    ["an outermost step that is deep inside", doneStep({ key: "charge", depth: 1 })],
    ["an inner step at the top", doneStep({ key: "outer/inner", depth: 0 })],
    ["a count of zero", doneStep({ key: "charge", count: 0 })],
    ["a negative index", doneStep({ key: "charge", index: -1, settledIndex: 0 })],
    ["a negative place of hand-over", doneStep({ key: "charge", settledIndex: -1 })],
  ])("%s is found", (_name, step) => {
    expect(foundIn(runOf(activeRecord(), [step]))).toEqual(["INV-15"]);
  });

  test.each<[string, StepRecord]>([
    ["one level too deep", doneStep({ key: "outer/inner", index: 1, settledIndex: 1, depth: 2 })],
    ["inside a sleep", doneStep({ key: "nap/inner", index: 1, settledIndex: 1, parentKey: "nap" })],
  ])("a step %s is found", (_name, step) => {
    const outer = [doneStep({ key: "outer" }), doneSleep({ key: "nap", index: 2, settledIndex: 2 })];
    expect(foundIn(runOf(activeRecord(), [...outer, step]))).toEqual(["INV-15"]);
  });
});
