import { expect, test } from "vitest";
import {
  activeRecord,
  foundIn,
  openSleep,
  openWait,
  pausedRecord,
  pendingRecord,
  retryStep,
  runOf,
  sampleNow,
  sent,
  waitingRecord,
} from "../../../../../tests/support/sample-run.ts";
import type { EventRecord } from "../../model/event.ts";
import type { InstanceRecord } from "../../model/instance.ts";
import type { StepRecord } from "../../model/step.ts";

const waits = [openWait({ key: "paid" })];
const events = [sent({ seq: 1 })];

test.each<[string, InstanceRecord, readonly StepRecord[], readonly EventRecord[]]>([
  ["due now", waitingRecord({ dueAt: sampleNow }), waits, events],
  ["paused", pausedRecord(), waits, events],
  ["held by a runner, who will look", activeRecord(), waits, events],
  ["put back after a crash", pendingRecord({ crashCount: 1 }), waits, events],
  ["waiting for another type", waitingRecord(), waits, [sent({ seq: 1, type: "signed" })]],
  ["past the deadline of its wait", waitingRecord(), waits, [sent({ seq: 1, createdAt: 20_001 })]],
  ["made due by a clock that is ahead", waitingRecord({ dueAt: 11_000, updatedAt: 11_000 }), waits, events],
  [
    "waiting for it inside a step that waits for its retry",
    waitingRecord(),
    [retryStep({ key: "outer" }), openWait({ key: "outer/paid", index: 1 })],
    events,
  ],
  ["asleep, with an event nobody has asked for", waitingRecord(), [openSleep({ key: "nap" })], events],
])("INV-23 a run with an event that is %s is sound", (_name, record, steps, given) => {
  expect(foundIn(runOf(record, steps, given))).toEqual([]);
});

test.each<[string, readonly StepRecord[], readonly EventRecord[]]>([
  ["of its type", waits, events],
  [
    "published to it",
    [openWait({ key: "news", eventType: null, topic: "news" })],
    [sent({ seq: 1, type: null, topic: "news", forStep: "news" })],
  ],
])("INV-23 a run that sleeps through an event %s is found", (_name, steps, given) => {
  expect(foundIn(runOf(waitingRecord(), steps, given))).toEqual(["INV-23 unless code-changed"]);
});
