import { expect, test } from "vitest";
import type { WireStep } from "../../wire/index.ts";
import { cutOffText, withRunning } from "./running-step.ts";

const step = (facts: Partial<WireStep>): WireStep =>
  ({ type: "do", status: "completed", attempts: 1, starts: 1, index: 0, stepKey: "a", ...facts }) as WireStep;

test.each<[Partial<WireStep>, string]>([
  [{}, ""],
  [{ starts: 2 }, ", cut off once"],
  [{ attempts: 2, starts: 4 }, ", cut off twice"],
  [{ status: "running", attempts: 0, starts: 1 }, ""],
  [{ status: "running", attempts: 0, starts: 4 }, ", cut off 3 times"],
  [{ type: "sleep", attempts: 0, starts: 3 }, ""],
  [{ starts: undefined as unknown as number }, ""],
])("crashes are counted: %j", (facts, words) => {
  expect(cutOffText(step(facts))).toBe(words);
});

test("a step at work takes the place of its record, or comes last where it has none", () => {
  const steps = [step({ stepKey: "a" }), step({ stepKey: "b", index: 1, status: "waiting" })];
  const again = step({ stepKey: "b", index: 1, status: "running" });
  expect(withRunning(steps, { currentStep: again })).toEqual([steps[0], again]);
  const fresh = step({ stepKey: "c", index: -1, status: "running" });
  expect(withRunning(steps, { currentStep: fresh })).toEqual([...steps, fresh]);
  expect(withRunning(steps, { currentStep: steps[1] as WireStep })).toEqual(steps);
});

test("of several steps at work each is there", () => {
  const steps = [step({ stepKey: "a" }), step({ stepKey: "b", index: 1, status: "waiting", attempts: 1 })];
  const body = (stepKey: string, start: number) => ({
    stepKey,
    name: stepKey,
    start,
    startedAt: "2026-01-31",
  });
  const shown = withRunning(steps, { running: [body("c", 1), body("b", 2), body("d", 1)] });
  expect(shown.map(({ stepKey, status, starts }) => `${stepKey} ${status} ${starts}`)).toEqual([
    "a completed 1",
    "b running 2",
    "c running 1",
    "d running 1",
  ]);
});
