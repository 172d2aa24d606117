import { expect, test } from "vitest";
import type { WireStep } from "../../http/wire.ts";
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
  expect(withRunning(steps, again)).toEqual([steps[0], again]);
  const fresh = step({ stepKey: "c", index: -1, status: "running" });
  expect(withRunning(steps, fresh)).toEqual([...steps, fresh]);
  expect(withRunning(steps, steps[1])).toEqual(steps);
});
