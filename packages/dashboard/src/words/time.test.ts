import { expect, test } from "vitest";
import { spokenAgo, spokenClock, spokenExact } from "./time.ts";

const now = new Date(2026, 4, 6, 14, 3, 22).getTime();
const minute = 60_000;

test("what is the same distance away is said in the same words, wherever it stands", () => {
  for (const ms of [7.9 * minute, 7.5 * minute, 7 * minute])
    expect(spokenAgo(now - ms, now)).toBe("7 minutes ago");
  expect(spokenAgo(now - 500, now)).toBe("now");
  expect(spokenClock(59.9 * minute)).toBe("59:54");
});

test("what is to come is said as near as it can be: a day that has just begun is not 23 hours", () => {
  for (const [minutes, words] of [
    [59.9, "in 1 hour"],
    [59, "in 59 minutes"],
    [29.98, "in 30 minutes"],
    [24 * 60 - 1, "tomorrow"],
    [23 * 60, "in 23 hours"],
    [47.8 * 60, "in 2 days"],
    [0.5, "in 30 seconds"],
  ] as const)
    expect(spokenAgo(now + minutes * minute, now)).toBe(words);
});

test("an exact time is as short as it can be without a doubt", () => {
  expect(spokenExact(now - 3000, now)).toBe("14:03:19");
  expect(spokenExact(now - 86_400_000, now)).toBe("May 5, 14:03");
  expect(spokenExact(new Date(2025, 11, 31, 8).getTime(), now)).toBe("Dec 31, 2025");
});
