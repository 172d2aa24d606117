import { expect, test } from "vitest";
import { spokenAgo, spokenClock, spokenExact } from "./time.ts";

const now = new Date(2026, 4, 6, 14, 3, 22).getTime();
const minute = 60_000;

test("what is the same distance away is said in the same words, wherever it stands", () => {
  for (const ms of [7.9 * minute, 7.5 * minute, 7 * minute])
    expect(spokenAgo(now - ms, now)).toBe("7 minutes ago");
  expect(spokenAgo(now - 500, now)).toBe("now");
  expect(spokenAgo(now + 59.9 * minute, now)).toBe("in 59 minutes");
  expect(spokenClock(59.9 * minute)).toBe("59:54");
});

test("an exact time is as short as it can be without a doubt", () => {
  expect(spokenExact(now - 3000, now)).toBe("14:03:19");
  expect(spokenExact(now - 86_400_000, now)).toBe("May 5, 14:03");
  expect(spokenExact(new Date(2025, 11, 31, 8).getTime(), now)).toBe("Dec 31, 2025");
});
