import { expect, test } from "vitest";
import { attemptsText, startsText } from "./starts-text.ts";

test("a difference between starts and attempts is explained, and no difference is not", () => {
  expect(startsText({ attempts: 2, starts: 2, maxAttempts: 6 })).toBe(null);
  expect(startsText({ attempts: 1, starts: 2, maxAttempts: 6 })).toBe(
    "1 start was cut off by a crash and does not count as an attempt. The body ran again from its beginning.",
  );
  expect(startsText({ attempts: 1, starts: 3, maxAttempts: 6 })).toContain(
    "2 starts were cut off by crashes",
  );
});

test("attempts are told with their limit", () => {
  expect(attemptsText({ attempts: 2, starts: 2, maxAttempts: 6 })).toBe("2 of at most 6");
  expect(attemptsText({ attempts: 2, starts: 2, maxAttempts: null })).toBe("2, without a limit");
});
