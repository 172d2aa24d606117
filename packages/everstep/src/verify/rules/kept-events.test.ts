import { expect, test } from "vitest";
import { json } from "../../../../../tests/support/sample-records.ts";
import {
  activeRecord,
  doneStep,
  doneWait,
  foundBetween,
  runOf,
  sent,
  taken,
} from "../../../../../tests/support/sample-run.ts";
import type { EventRecord } from "../../model/event.ts";
import type { StepRecord } from "../../model/step.ts";

const wait = [doneWait({ key: "paid" })];
const later = activeRecord({ token: 5 });
const run = (events: readonly EventRecord[], steps: readonly StepRecord[] = wait) =>
  runOf(activeRecord(), steps, events);

test.each<[string, readonly EventRecord[], readonly EventRecord[]]>([
  ["accepted", [], [sent({ seq: 1 })]],
  ["taken", [sent({ seq: 1 })], [taken("paid", { seq: 1 })]],
  ["followed by others", [taken("paid", { seq: 1 })], [taken("paid", { seq: 1 }), sent({ seq: 4 })]],
])("an event that was %s is sound", (_name, before, after) => {
  expect(foundBetween(run(before), run(after))).toEqual([]);
});

test.each<[string, readonly EventRecord[], readonly EventRecord[], string]>([
  ["is gone", [sent({ seq: 1 })], [], "INV-22"],
  ["was taken and is gone", [taken("paid", { seq: 1 })], [], "INV-22"],
  ["was taken and is there again", [taken("paid", { seq: 1 })], [sent({ seq: 1 })], "INV-22"],
  ["has another taker", [taken("paid", { seq: 1 })], [taken("other", { seq: 1 })], "INV-22"],
  ["has another payload", [sent({ seq: 1 })], [sent({ seq: 1, payload: json("other") })], "INV-22"],
  ["has another id", [sent({ seq: 1 })], [sent({ seq: 1, id: "other" })], "INV-22"],
  ["came before one that was there", [sent({ seq: 2 })], [sent({ seq: 1 }), sent({ seq: 2 })], "INV-24"],
])("an event that %s is found", (_name, before, after, found) => {
  expect(foundBetween(run(before), run(after))).toEqual([found]);
  expect(foundBetween(run(before), { ...run(after), record: later })).toEqual([found]);
});

test("what was taken inside a step that failed is there again after its retry, under a later token only", () => {
  const inside = [doneWait({ key: "outer/paid" })];
  const before = run([taken("outer/paid", { seq: 1 })], inside);
  expect(foundBetween(before, runOf(later, [], [sent({ seq: 1 })]))).toEqual([]);
  expect(foundBetween(before, run([sent({ seq: 1 })], inside))).toEqual(["INV-22"]);
});

test("what was taken inside a completed step stays taken", () => {
  const steps = [doneStep({ key: "outer" }), doneWait({ key: "outer/paid", index: 1 })];
  const before = run([taken("outer/paid", { seq: 1 })], steps);
  expect(foundBetween(before, runOf(later, steps, [sent({ seq: 1 })]))).toEqual(["INV-22"]);
});
