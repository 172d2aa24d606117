import { expect, test } from "vitest";
import { makeScale } from "./scale.ts";
import { ticksOf, tickText } from "./ticks.ts";

const second = 1000;
const hour = 3_600_000;
const day = 24 * hour;

function texts(to: number, width = 800, breaks: Parameters<typeof makeScale>[1] = []) {
  const { pieces } = makeScale({ from: 0, to }, breaks);
  return ticksOf({ pieces, origin: 0, width, leftOf: (place) => place * width }).map(({ text }) => text);
}

test("ticks are at round times, from milliseconds to days", () => {
  expect(texts(30)).toEqual(["0", "5 ms", "10 ms", "15 ms", "20 ms", "25 ms"]);
  expect(texts(4 * second)).toEqual(["0", "500 ms", "1.0 s", "1.5 s", "2.0 s", "2.5 s", "3.0 s", "3.5 s"]);
  expect(texts(90 * second)).toEqual([
    "0",
    "10 s",
    "20 s",
    "30 s",
    "40 s",
    "50 s",
    "1 min",
    "1 min 10 s",
    "1 min 20 s",
  ]);
  expect(texts(5 * hour)).toEqual(["0", "1 h", "2 h", "3 h", "4 h"]);
  expect(texts(9 * day)).toEqual(["0", "1 d", "2 d", "3 d", "4 d", "5 d", "6 d", "7 d", "8 d"]);
});

test("there are never more than there is room for", () => {
  for (const to of [7, 333, 12_345, 987_654, 3 * day, 300 * day]) {
    const { pieces } = makeScale({ from: 0, to });
    const lefts = ticksOf({ pieces, origin: 0, width: 360, leftOf: (place) => place * 360 }).map(
      ({ left }) => left,
    );
    expect(lefts.length).toBeGreaterThan(0);
    for (const [n, left] of lefts.entries()) expect(left - (lefts[n - 1] ?? -100)).toBeGreaterThanOrEqual(84);
  }
});

test("only what is seen has ticks", () => {
  const { pieces } = makeScale({ from: 0, to: day });
  const leftOf = (place: number) => (place - 0.5) * 800 * 86_400;
  const ticks = ticksOf({ pieces, origin: 0, width: 800, leftOf });
  expect(ticks.map(({ text }) => text)[0]).toBe("12 h");
  expect(ticks.length).toBeLessThan(10);
});

test("after a break time is counted from its end", () => {
  const breaks = [{ from: 1000, to: 3 * day }];
  expect(texts(3 * day + 1000, 800, breaks)).toEqual(["0", "500 ms", "+3 d", "… +500 ms"]);
});

test("a tick is no finer than the step to the next", () => {
  expect(tickText(1234, 1)).toBe("1.234 s");
  expect(tickText(61_200, 200)).toBe("1 min 1.2 s");
  expect(tickText(60_000, 5000)).toBe("1 min");
});
