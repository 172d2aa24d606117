import { expect, test } from "vitest";
import {
  activeRecord,
  doneStep,
  doneWait,
  foundIn,
  openWait,
  runOf,
  sent,
  taken,
  timedOutWait,
} from "../../../../../tests/support/sample-run.ts";
import type { EventRecord } from "../../model/event.ts";
import type { StepRecord } from "../../model/step.ts";

const first = doneWait({ key: "first" });
const second = doneWait({ key: "second", index: 1, settledIndex: 1 });

test.each<[string, readonly StepRecord[], readonly EventRecord[]]>([
  ["taken in order", [first, second], [taken("first", { seq: 1 }), taken("second", { seq: 2 })]],
  ["buffered for later", [], [sent({ seq: 1 }), sent({ seq: 2, type: "signed" })]],
  // A run that was forked or restarted from a step begins with waits whose events stayed behind.
  ["taken in a run before this one", [first], []],
  [
    "taken in the last millisecond",
    [doneWait({ key: "first", wakeAt: 7 })],
    [taken("first", { seq: 1, createdAt: 7 })],
  ],
  [
    "too late for the wait that took a younger one of another clock",
    [doneWait({ key: "first", wakeAt: 7 })],
    [sent({ seq: 1, createdAt: 8 }), taken("first", { seq: 2, createdAt: 7 })],
  ],
  [
    "published to a topic",
    [doneWait({ key: "news", eventType: null, topic: "news" })],
    [taken("news", { seq: 1, type: null, topic: "news", forStep: "news" })],
  ],
])("events that were %s are sound", (_name, steps, events) => {
  expect(foundIn(runOf(activeRecord(), steps, events))).toEqual([]);
});

test.each<[string, readonly StepRecord[], readonly EventRecord[], string]>([
  ["taken by nobody we know", [], [taken("first", { seq: 1 })], "INV-22"],
  ["taken but not delivered", [first], [sent({ seq: 1, consumedBy: "first" })], "INV-22"],
  ["delivered to nobody", [], [sent({ seq: 1, deliveredAt: 5 })], "INV-22"],
  [
    "taken by a wait that is still open",
    [openWait({ key: "first" })],
    [taken("first", { seq: 1 })],
    "INV-22",
  ],
  [
    "taken by a wait that timed out",
    [timedOutWait({ key: "first" })],
    [taken("first", { seq: 1 })],
    "INV-22",
  ],
  ["taken by a step with a body", [doneStep({ key: "first" })], [taken("first", { seq: 1 })], "INV-22"],
  ["both taken by one wait", [first], [taken("first", { seq: 1 }), taken("first", { seq: 2 })], "INV-24"],
  ["accepted under one sequence", [], [sent({ seq: 1 }), sent({ seq: 1, id: "other" })], "INV-24"],
  [
    "published to one wait and taken by another",
    [first],
    [taken("first", { seq: 1, topic: "news", forStep: "news" })],
    "INV-24",
  ],
  [
    "taken after the wait was over",
    [doneWait({ key: "first", wakeAt: 7 })],
    [taken("first", { seq: 1, createdAt: 8 })],
    "INV-26",
  ],
  [
    "taken by a wait for another type",
    [first],
    [taken("first", { seq: 1, type: "signed" })],
    "INV-24 unless code-changed",
  ],
  ["passed over", [first], [sent({ seq: 1 }), taken("first", { seq: 2 })], "INV-24 unless event-given-back"],
])("events that were %s are found", (_name, steps, events, found) => {
  expect(foundIn(runOf(activeRecord(), steps, events))).toEqual([found]);
});
