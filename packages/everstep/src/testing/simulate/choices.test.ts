import { expect, test } from "vitest";
import { Choices } from "./choices.ts";

function draw(choices: Choices, labels: readonly string[]): number[] {
  return labels.map((label) => choices.below(label, 1000));
}

test("the same seed draws the same", () => {
  const labels = ["a", "b", "a", "c", "a"];
  expect(draw(new Choices(7), labels)).toEqual(draw(new Choices(7), labels));
  expect(draw(new Choices(7), labels)).not.toEqual(draw(new Choices(8), labels));
});

test("one more draw of one label moves no other", () => {
  const [, first] = draw(new Choices(7), ["a", "b"]);
  const [, , second] = draw(new Choices(7), ["a", "a", "b"]);
  expect(second).toBe(first);
});

test("a tape is played again, and what it does not say is the simplest choice", () => {
  const drawn = new Choices(7);
  draw(drawn, ["a", "a", "b"]);
  const { a = [], b = [] } = drawn.tape;
  expect(draw(new Choices(1, drawn.tape), ["a", "a", "b", "b", "c"])).toEqual([...a, ...b, 0, 0]);
});

test("a value of a tape that is out of range is the nearest that is not", () => {
  expect(new Choices(1, { a: [50] }).below("a", 3)).toBe(2);
  expect(new Choices(1, { a: [5] }).chance("a", 0)).toBe(true);
});

test("weights decide how often; a weight of 0 is never drawn", () => {
  const choices = new Choices(3);
  const counts = { often: 0, rarely: 0, never: 0 };
  for (let time = 0; time < 1000; time++) counts[choices.weighted("w", { often: 9, rarely: 1, never: 0 })]++;
  expect(counts.never).toBe(0);
  expect(counts.often).toBeGreaterThan(counts.rarely * 4);
  expect(counts.rarely).toBeGreaterThan(20);
});

test("a spread begins with its simplest length, whichever is longer", () => {
  expect(new Choices(1, {}).spread("s", 100, 1)).toBe(100);
  expect(new Choices(1, { s: [99] }).spread("s", 100, 1)).toBeCloseTo(1);
});
