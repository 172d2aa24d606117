import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { hearTime, serverNow } from "./server-clock.ts";

const noon = Date.parse("2026-01-31T12:00:00.000Z");
beforeAll(() => {
  vi.useFakeTimers({ now: noon, toFake: ["Date"] });
});
// The next file of tests runs in the same process.
afterAll(() => {
  vi.useRealTimers();
});
afterEach(() => {
  vi.setSystemTime(noon);
  hearTime(new Date(noon).toISOString(), noon);
});

test("a reader whose clock is wrong sees the engine's time, reckoned to the middle of the asking", () => {
  vi.setSystemTime(noon + 3_600_200);
  hearTime("2026-01-31T12:00:00.100Z", noon + 3_600_001);
  // Whole milliseconds: it is sent, too.
  expect(serverNow()).toBe(noon + 200);
  vi.setSystemTime(noon + 3_610_200);
  expect(serverNow()).toBe(noon + 10_200);
});

test("a clock that is right is left alone, and so is one of which nothing is heard", () => {
  vi.setSystemTime(noon + 400);
  hearTime("2026-01-31T12:00:00.000Z", noon);
  expect(serverNow()).toBe(noon + 400);
  hearTime(undefined, noon);
  hearTime("noon", noon);
  expect(serverNow()).toBe(noon + 400);
});
