import { expect, test } from "vitest";
import { breaksIn, isDwarfed, makeScale } from "./scale.ts";
import type { Span } from "./spans.ts";

const span = (from: number, to: number): Span => ({ from, to });
const day = 86_400_000;

test("to scale, the same time has the same width everywhere", () => {
  const scale = makeScale(span(1000, 3000));
  expect([1000, 1500, 2000, 3000].map(scale.placeOf)).toEqual([0, 0.25, 0.5, 1]);
  expect(scale.timeAt(0.25)).toBe(1500);
});

test("a break is narrow, and what is around it keeps its proportions", () => {
  const scale = makeScale(span(0, day + 2000), [span(1000, day + 1000)]);
  const place = (time: number) => scale.placeOf(time);
  expect(place(1000) - place(0)).toBeCloseTo(place(day + 2000) - place(day + 1000));
  expect(place(day + 1000) - place(1000)).toBeCloseTo(0.4);
  expect(place(day / 2 + 1000)).toBeCloseTo(0.5);
});

test("where waits are cut short, an attempt of milliseconds stays small", () => {
  const scale = makeScale(span(0, 3_600_003), [span(3, 3_600_003)]);
  // Of a chart that is 850 pixels wide.
  expect(scale.placeOf(3) * 850).toBeLessThan(12);
  const longer = makeScale(span(0, 3_600_100), [span(100, 3_600_100)]);
  expect(longer.placeOf(3) * 850).toBeLessThan(5);
});

test("a longer wait is wider than a shorter one, though both are cut", () => {
  const { pieces } = makeScale(span(0, 3_610_100), [span(50, 10_050), span(10_100, 3_610_100)]);
  const [short = 0, long = 0] = pieces.filter(({ isBreak }) => isBreak).map(({ begin, end }) => end - begin);
  expect(long).toBeGreaterThan(2 * short);
  expect(long).toBeLessThan(5 * short);
});

test("places and times are each other's answers, breaks or not", () => {
  const scale = makeScale(span(0, 50_000), [span(100, 20_000), span(20_500, 40_000)]);
  for (const time of [0, 50, 100, 10_000, 20_000, 20_300, 30_000, 45_000, 50_000]) {
    expect(scale.timeAt(scale.placeOf(time))).toBeCloseTo(time, 6);
  }
});

test("time beyond the ends has a place beyond them", () => {
  const scale = makeScale(span(0, 100));
  expect(scale.placeOf(150)).toBeCloseTo(1.5);
  expect(scale.placeOf(-50)).toBeCloseTo(-0.5);
});

test("many breaks leave most of the room to the work", () => {
  const breaks = Array.from({ length: 50 }, (_, n) => span(n * day + 10, (n + 1) * day));
  const scale = makeScale(span(0, 50 * day), breaks);
  const shares = scale.pieces.filter(({ isBreak }) => !isBreak).map(({ begin, end }) => end - begin);
  expect(shares.reduce((sum, each) => sum + each, 0)).toBeCloseTo(0.6);
});

test("an instance that only sleeps is one break over the whole width", () => {
  const { pieces } = makeScale(span(0, day), [span(0, day)]);
  expect(pieces).toEqual([{ from: 0, to: day, begin: 0, end: 1, isBreak: true }]);
});

test("what takes no time at all has a scale too", () => {
  expect(makeScale(span(5, 5)).placeOf(5)).toBe(0);
});

test("waits longer than all work are cut, shorter ones stay", () => {
  const work = [span(0, 400), span(800, 1000), span(6000, 6100)];
  expect(breaksIn(span(0, 6100), work, [])).toEqual([span(1000, 6000)]);
});

test("waits that follow each other are cut one by one, and short ones beside them stay whole", () => {
  const work = [span(0, 500)];
  expect(breaksIn(span(0, 2 * day), work, [700, day])).toEqual([span(700, day), span(day, 2 * day)]);
});

test("many short waits in a row are cut together", () => {
  const edges = Array.from({ length: 100 }, (_, n) => 500 + n * 300);
  expect(breaksIn(span(0, 30_500), [span(0, 500)], edges)).toEqual([span(500, 30_500)]);
});

test("what is over in the blink of an eye is never cut", () => {
  expect(breaksIn(span(0, 92), [span(0, 1), span(91, 92)], [])).toEqual([]);
});

test("a wait hides the work if it is more than twenty times as long as everything else", () => {
  expect(isDwarfed(span(0, 22_000), [span(1000, 22_000)])).toBe(true);
  expect(isDwarfed(span(0, 20_500), [span(1000, 20_500)])).toBe(false);
  expect(isDwarfed(span(0, 20_500), [])).toBe(false);
});
