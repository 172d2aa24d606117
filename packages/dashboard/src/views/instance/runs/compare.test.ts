import type { WireStep } from "everstep/client";
import { expect, test } from "vitest";
import { compareRuns } from "./compare.ts";

function step(stepKey: string, tookMs: number, more: Partial<WireStep> = {}, from = 0): WireStep {
  const at = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + from + ms).toISOString();
  const base = { stepKey, depth: 0, status: "completed", createdAt: at(0), settledAt: at(tookMs) };
  return { ...base, result: 1, ...more } as WireStep;
}

const findings = (left: readonly WireStep[], right: readonly WireStep[]) =>
  compareRuns(left, right).map(({ stepKey, findings }) => [stepKey, ...findings]);

test("steps that only one of the runs has are added or gone, where they were", () => {
  const left = [step("a", 1), step("old", 1), step("b", 1)];
  const right = [step("a", 1, {}, 9), step("b", 1, {}, 9), step("new", 1, {}, 9)];
  expect(findings(left, right)).toEqual([["a"], ["old", "gone"], ["b"], ["new", "added"]]);
});

test("what a restart kept is not compared by its time", () => {
  expect(findings([step("a", 100)], [step("a", 100)])).toEqual([["a", "kept"]]);
});

test("slower and faster are said where the difference is worth a look", () => {
  const left = [step("a", 100), step("b", 1000), step("c", 1000), step("d", 10)];
  const right = [step("a", 300, {}, 9), step("b", 1100, {}, 9), step("c", 100, {}, 9), step("d", 30, {}, 9)];
  expect(findings(left, right)).toEqual([["a", "slower"], ["b"], ["c", "faster"], ["d"]]);
  expect(compareRuns(left, right)[0]).toMatchObject({ leftMs: 100, rightMs: 300, differenceMs: 200 });
});

test("another result is told; another order of names is not", () => {
  const left = [step("a", 1, { result: { x: 1, y: { p: 1, q: 2 } } }), step("b", 1, { result: [1, 2] })];
  const right = [
    step("a", 1, { result: { y: { q: 2, p: 1 }, x: 1 } }, 9),
    step("b", 1, { result: [2, 1] }, 9),
  ];
  expect(findings(left, right)).toEqual([["a"], ["b", "result changed"]]);
});

test("a step that ended in another way has another status, and one that has not ended has no difference", () => {
  const left = [step("a", 1), step("b", 1)];
  const right = [
    step("a", 1, { status: "errored" }, 9),
    step("b", 1, { status: "waiting", settledAt: null }, 9),
  ];
  expect(findings(left, right)).toEqual([
    ["a", "status changed"],
    ["b", "status changed"],
  ]);
  expect(compareRuns(left, right)[1]?.differenceMs).toBe(null);
});
