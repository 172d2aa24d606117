import { expect, test } from "vitest";
import {
  activeRecord,
  doneSleep,
  doneStep,
  failedStep,
  foundIn,
  runOf,
  timedOutWait,
} from "../../../../../tests/support/sample-run.ts";
import type { StepRecord } from "../../model/step.ts";

test.each<[string, readonly StepRecord[]]>([
  ["a sleep that was over on time", [doneSleep({ key: "a", wakeAt: 5, settledAt: 5 })]],
  ["a wait that timed out in the last millisecond", [timedOutWait({ key: "a", wakeAt: 5, settledAt: 5 })]],
  ["a retry that came late", [doneStep({ key: "a", wakeAt: 5, settledAt: 500 })]],
  // Used-up retries wait for nothing.
  ["a step that failed before its next attempt", [failedStep({ key: "a", wakeAt: 5, settledAt: 4 })]],
  [
    "a hook that failed with the timeout of a wait inside it",
    [
      timedOutWait({ key: "a", wakeAt: 5, settledAt: 4, settledIndex: 1 }),
      timedOutWait({ key: "a/b", index: 1, settledIndex: 0, wakeAt: 4, settledAt: 4 }),
    ],
  ],
])("INV-28 %s is sound", (_name, steps) => {
  expect(foundIn(runOf(activeRecord(), steps))).toEqual([]);
});

test.each<[string, StepRecord, string]>([
  ["a sleep", doneSleep({ key: "a", wakeAt: 5, settledAt: 4 }), "INV-28 unless sleep-skipped"],
  ["a timeout", timedOutWait({ key: "a", wakeAt: 5, settledAt: 4 }), "INV-28"],
  ["a retry", doneStep({ key: "a", wakeAt: 5, settledAt: 4 }), "INV-28 unless clock-set-back"],
])("INV-28 %s that came early is found", (_name, step, found) => {
  expect(foundIn(runOf(activeRecord(), [step]))).toEqual([found]);
});
