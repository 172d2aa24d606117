import { describe, expect, test } from "vitest";
import { distanceOf, spokenDuration } from "./time.ts";

const now = Date.UTC(2026, 0, 31, 12);
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

function said(ms: number): string {
  const distance = distanceOf(now + ms, now);
  if (!distance) return "now";
  const { count, sign, isPast } = distance;
  return isPast ? `${count} ${sign} ago` : `in ${count} ${sign}`;
}

describe("how far away", () => {
  test.each([
    [0, "now"],
    [-999, "now"],
    [999, "now"],
    [-second, "1 s ago"],
    [-59.9 * second, "59 s ago"],
    [-7.9 * minute, "7 min ago"],
    [-(2 * hour - 1), "1 h ago"],
    [-3 * day, "3 d ago"],
    [12.1 * second, "in 13 s"],
    [30 * second, "in 30 s"],
    [59 * minute, "in 59 min"],
    [59.9 * minute, "in 1 h"],
    [day - minute, "in 1 d"],
    [23 * hour, "in 23 h"],
    [47.8 * hour, "in 2 d"],
  ])("%d ms from now is said as %s", (ms, words) => expect(said(ms)).toBe(words));
});

describe("how long", () => {
  test.each([
    [0, "0 ms"],
    [-1, "0 ms"],
    [999.9, "999 ms"],
    [1000, "1 s"],
    [1290, "1.2 s"],
    [9999, "9.9 s"],
    [12_999, "12 s"],
    [minute + 5 * second, "1 min 5 s"],
    [2 * hour, "2 h"],
    [day + 4 * hour, "1 d 4 h"],
  ])("%d ms are said as %s", (ms, words) => expect(spokenDuration(ms)).toBe(words));
});

test("how long something runs and how long ago it began are the same number, at every moment", () => {
  for (let ms = 1000; ms < 60_000; ms += 7) {
    const [ran = ""] = spokenDuration(ms).split(/[ .]/);
    expect([ms, `${ran} s ago`]).toEqual([ms, said(-ms)]);
  }
});

test("a countdown in whole seconds and how far away its end is are the same number, at every moment", () => {
  for (let ms = 1000; ms < 59_000; ms += 7) {
    expect([ms, `in ${Math.ceil(ms / 1000)} s`]).toEqual([ms, said(ms)]);
  }
});
