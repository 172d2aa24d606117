import { expect, test } from "vitest";
import { spokenLimits } from "./limits-words.ts";

test("limits are said in their units, and what has none says so", () => {
  const limits = {
    maxSteps: 1024,
    maxParamsBytes: 1024 * 1024,
    maxSleepMs: 86_400_000,
    maxStepTimeoutMs: null,
  };
  expect(spokenLimits(limits)).toEqual([
    { name: "Steps in a run", value: "1,024" },
    { name: "Size of params", value: "1.0 MB" },
    { name: "Longest sleep", value: "1 d" },
    { name: "Longest attempt", value: "no limit" },
  ]);
});
