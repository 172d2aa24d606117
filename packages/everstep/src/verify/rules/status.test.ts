import { describe, expect, test } from "vitest";
import { json } from "../../../../../tests/support/sample-records.ts";
import {
  activeRecord,
  completeRecord,
  erroredRecord,
  foundIn,
  openSleep,
  pausedRecord,
  pendingRecord,
  runOf,
  terminatedRecord,
  waitingRecord,
} from "../../../../../tests/support/sample-run.ts";

const nap = [openSleep({ key: "nap" })];

describe("INV-37 a status and what belongs to it", () => {
  test.each([
    ["new, never started", runOf(pendingRecord({ startedAt: null, token: 0 }))],
    ["under a lease", runOf(activeRecord())],
    ["waiting", runOf(waitingRecord(), nap)],
    ["paused", runOf(pausedRecord())],
    ["paused while a body runs", runOf(pausedRecord({ executing: true, dueAt: 30_000 }))],
    ["complete", runOf(completeRecord())],
    ["complete, kept for a while", runOf(completeRecord({ retentionMs: 100, retentionUntil: 109 }))],
    ["errored", runOf(erroredRecord())],
    ["a dead letter", runOf(erroredRecord({ deadLetter: true }))],
    ["terminated before it began", runOf(terminatedRecord({ startedAt: null, token: 1 }))],
    ["an older run", { ...runOf(terminatedRecord()), isCurrent: false }],
  ])("a run that is %s is sound", (_name, facts) => {
    expect(foundIn(facts)).toEqual([]);
  });

  test.each([
    ["complete without an output", completeRecord({ output: null })],
    ["complete without an end", completeRecord({ completedAt: null })],
    ["active with an output", activeRecord({ output: json(1) })],
    ["active with an end", activeRecord({ completedAt: 3 })],
    ["errored without an error", erroredRecord({ error: null })],
    ["terminated without a reason", terminatedRecord({ terminationReason: null })],
    ["complete with a reason", completeRecord({ terminationReason: { source: "user", message: null } })],
    ["paused since never", pausedRecord({ pausedAt: null })],
    ["active and paused", activeRecord({ pausedAt: 3 })],
    ["a dead letter that is complete", completeRecord({ deadLetter: true })],
    ["under a lease but never started", activeRecord({ startedAt: null })],
    ["started without ever having had a lease", pendingRecord({ token: 0 })],
    ["kept for ever although it has a retention", completeRecord({ retentionMs: 100 })],
    ["to be removed although it has not ended", activeRecord({ retentionUntil: 100 })],
  ])("a run that is %s is found", (_name, record) => {
    expect(foundIn(runOf(record))).toEqual(["INV-37"]);
  });
});

test("INV-38 an older run that has not ended is found", () => {
  expect(foundIn({ ...runOf(pausedRecord()), isCurrent: false })).toEqual(["INV-38"]);
});
