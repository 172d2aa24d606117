import { describe, expect, test } from "vitest";
import {
  activeRecord,
  completeRecord,
  foundIn,
  openSleep,
  openWait,
  pausedRecord,
  pendingRecord,
  retryStep,
  runOf,
  waitingRecord,
} from "../../../../../tests/support/sample-run.ts";

describe("INV-37 who wants a turn has a time for it, and nobody else", () => {
  test.each([
    ["active, and nothing makes it due", runOf(pendingRecord({ dueAt: null }))],
    ["under a lease without an end", runOf(activeRecord({ dueAt: null }))],
    ["waiting, and nothing makes it due", runOf(waitingRecord({ dueAt: null }), [openSleep({ key: "nap" })])],
    ["waiting for nothing (R-021)", runOf(waitingRecord())],
    ["waiting for something inside a step only", runOf(waitingRecord(), [openSleep({ key: "outer/nap" })])],
    ["waiting under a lease", runOf(waitingRecord({ executing: true }), [openSleep({ key: "nap" })])],
    ["due, but in no list of due runs", runOf(pendingRecord({ unlisted: true }))],
    ["under a lease, but in no list of leases", runOf(activeRecord({ unlisted: true }))],
    ["paused but due", runOf(pausedRecord({ dueAt: 5 }))],
    ["complete but due", runOf(completeRecord({ dueAt: 5 }))],
  ])("a run that is %s is found", (_name, facts) => {
    expect(foundIn(facts)).toEqual(["INV-37"]);
  });

  test("a run that has ended but is under a lease is found", () => {
    expect(foundIn(runOf(completeRecord({ executing: true, dueAt: 30_000 })))).toEqual(["INV-37"]);
  });
});

describe("INV-31 the earliest wait decides", () => {
  const waits = [openSleep({ key: "short", wakeAt: 15_000 }), openWait({ key: "paid", index: 1 })];

  test.each([
    ["due at its earliest wait", 15_000, waits],
    ["due before it, because something happened or its time is limited", 7, waits],
    // Nobody asks for it before the outer step is tried again.
    [
      "due later than a wait inside a step that waits for its retry",
      20_000,
      [retryStep({ key: "outer" }), openSleep({ key: "outer/nap", index: 1, wakeAt: 15_000 })],
    ],
  ])("a run that is %s is sound", (_name, dueAt, steps) => {
    expect(foundIn(runOf(waitingRecord({ dueAt }), steps))).toEqual([]);
  });

  test("a run that is due later than all its waits is found", () => {
    expect(foundIn(runOf(waitingRecord({ dueAt: 20_001 }), waits))).toEqual(["INV-31"]);
  });

  test("one that passes over a wait is found, unless nobody asks for that wait any more", () => {
    expect(foundIn(runOf(waitingRecord({ dueAt: 20_000 }), waits))).toEqual(["INV-31 unless code-changed"]);
  });

  test("a run that is not waiting may have missed its waits: it was put back after a crash, or is due anyway", () => {
    expect(foundIn(runOf(pendingRecord({ dueAt: 20_001, crashCount: 2 }), waits))).toEqual([]);
  });
});
