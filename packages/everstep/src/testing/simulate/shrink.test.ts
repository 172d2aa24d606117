import { expect, test } from "vitest";
import type { Tape } from "./choices.ts";
import { choicesLeft, shrink } from "./shrink.ts";

const sum = (tape: Tape, label: string): number =>
  (tape[label] ?? []).reduce((total, value) => total + value, 0);

test("keeps what the fault needs and nothing else", async () => {
  const noise = Array.from({ length: 300 }, (_, at) => at % 7);
  const tape = { noise, kills: [0, 3, 1, 0, 2], late: [5, 5, 5] };
  const small = await shrink(tape, async (tried) => (tried.kills?.[2] ?? 0) > 0 && sum(tried, "late") >= 4);
  expect(small.noise).toBeUndefined();
  expect(small.kills).toEqual([0, 0, 1]);
  expect(choicesLeft(small)).toBe(2);
});

test("gives the tape back when nothing can be left out", async () => {
  const tape = { only: [1] };
  expect(await shrink(tape, async (tried) => tried.only?.[0] === 1)).toEqual(tape);
});

test("stops when there is no more time, with the best there is", async () => {
  let tries = 0;
  const tape = { a: [9, 9, 9, 9] };
  const small = await shrink(tape, async (tried) => sum(tried, "a") > 0 && ++tries > 0, {
    isOver: () => tries > 0,
  });
  expect(tries).toBe(1);
  expect(sum(small, "a")).toBeLessThan(36);
});

test("tries no more worlds than it may", async () => {
  let tries = 0;
  await shrink({ a: Array.from({ length: 500 }, () => 1) }, async () => ++tries > 1e9, { triesMax: 20 });
  expect(tries).toBe(20);
});
