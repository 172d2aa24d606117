import { expect, test } from "vitest";
import { readReplay, replayCode, type SimulationTape } from "./replay-code.ts";

test.each<[SimulationTape, string]>([
  [{ version: 1, seed: 17, choices: null }, "17"],
  [{ version: 1, seed: 0, choices: {} }, "0?"],
  [{ version: 1, seed: 3, choices: { 'body "a & b=c?"': [0, 2] } }, "3?body+%22a+%26+b%3Dc%3F%22=0.2"],
  [{ version: 1, seed: "own", choices: { größe: [1], x: [0, 0, 3] } }, "own?gr%C3%B6%C3%9Fe=1&x=0.0.3"],
])("%o is %s, and back", (tape, code) => {
  expect(replayCode(tape)).toBe(code);
  expect(readReplay(code)).toEqual(tape);
  expect(readReplay(JSON.parse(JSON.stringify(tape)))).toEqual(tape);
});

test("a plain seed is a number", () => {
  expect(readReplay(5)).toEqual({ version: 1, seed: 5, choices: null });
});
