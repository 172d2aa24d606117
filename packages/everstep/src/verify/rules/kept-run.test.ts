import { describe, expect, test } from "vitest";
import { json } from "../../../../../tests/support/sample-records.ts";
import {
  activeRecord,
  completeRecord,
  doneStep,
  erroredRecord,
  foundBetween,
  pausedRecord,
  pendingRecord,
  runOf,
  sent,
  terminatedRecord,
} from "../../../../../tests/support/sample-run.ts";
import type { InstanceRecord } from "../../model/instance.ts";

test.each<[string, InstanceRecord, InstanceRecord]>([
  ["was claimed", pendingRecord({ startedAt: null }), activeRecord({ token: 4 })],
  ["was paused", activeRecord(), pausedRecord()],
  ["went on", pausedRecord(), activeRecord()],
  ["came to its end", activeRecord(), completeRecord()],
  ["was terminated", pausedRecord(), terminatedRecord({ token: 4 })],
  ["stays at its end", completeRecord(), completeRecord()],
  ["was given another try", erroredRecord(), pendingRecord({ token: 4 })],
  ["failed again after another try", erroredRecord(), erroredRecord({ token: 5, completedAt: 20 })],
  ["was removed and created again", completeRecord(), pendingRecord({ runId: 2, token: 0, params: json(2) })],
])("a run that %s is sound", (_name, before, after) => {
  expect(foundBetween(runOf(before), runOf(after))).toEqual([]);
});

test("INV-1 a token that went back is found", () => {
  expect(foundBetween(runOf(activeRecord()), runOf(activeRecord({ token: 0 })))).toEqual(["INV-1"]);
});

test.each<[string, Partial<InstanceRecord>]>([
  ["params", { params: json({ other: true }) }],
  ["time of creation", { createdAt: 1 }],
  ["first start", { startedAt: 1 }],
  ["deadline", { deadlineAt: 1 }],
  ["parent", { parent: { workflowName: "w", instanceId: "i" } }],
])("INV-18 a run with another %s is found", (_name, facts) => {
  expect(foundBetween(runOf(activeRecord()), runOf(activeRecord(facts)))).toEqual(["INV-18"]);
});

describe("INV-33 terminal is final", () => {
  test.each<[string, InstanceRecord, InstanceRecord]>([
    ["another output", completeRecord(), completeRecord({ output: json("lost") })],
    ["another end", terminatedRecord(), terminatedRecord({ completedAt: 10, token: 9 })],
    ["another error under its token", erroredRecord(), erroredRecord({ error: { name: "E", message: "m" } })],
  ])("%s is found", (_name, before, after) => {
    expect(foundBetween(runOf(before), runOf(after))).toEqual(["INV-33"]);
  });

  test("a run that goes on after its end is found", () => {
    const found = foundBetween(runOf(completeRecord()), runOf(activeRecord({ token: 4 })));
    expect(new Set(found)).toEqual(new Set(["INV-33"]));
  });

  test("a step or an event that came after the end is found", () => {
    const after = runOf(completeRecord(), [doneStep({ key: "late" })], [sent({ seq: 1 })]);
    expect(foundBetween(runOf(completeRecord()), after)).toEqual(["INV-33", "INV-33"]);
  });
});

test("INV-38 a run that is current again is found", () => {
  const run = runOf(terminatedRecord());
  expect(foundBetween({ ...run, isCurrent: false }, run)).toEqual(["INV-38"]);
});
