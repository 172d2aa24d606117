import { expect, test } from "vitest";
import { factsOf, labelOf } from "./facts.ts";
import { type RunTold, runRowsOf } from "./rows.ts";
import { at, type SampleStep, sampleBody, sampleMeta, sampleStep } from "./sample-steps.ts";

function row(name: string, given: SampleStep, more: Partial<RunTold> = {}) {
  const told = {
    steps: [sampleStep(name, given)],
    running: [],
    meta: sampleMeta(),
    status: "active",
  } as const;
  return runRowsOf({ ...told, ...more }).rows[0]!;
}

const retried = {
  to: 2100,
  failed: [
    { at: 50, retry: 1050 },
    { at: 1070, retry: 2070 },
  ],
};

test("a row tells those who cannot see it what the bar shows", () => {
  expect(labelOf(row("charge", retried), 0)).toBe(
    "charge, completed, 3 attempts, took 2.1 s of which 2 s waiting for retries",
  );
  expect(labelOf(row("reserve", { to: 40 }), 0)).toBe("reserve, completed, took 40 ms");
  expect(labelOf(row("nap", { type: "sleep", wake: 5000 }), at(3000))).toBe("nap, sleeping, slept 3 s");
  expect(labelOf(row("word", { type: "waitForEvent", to: 60_000, wake: 99_000 }), 0)).toBe(
    "word, completed, waited 1 min",
  );
});

test("the time until somebody retried a failed step is told as such", () => {
  const failed = [{ at: 50, reopened: 60_050, retry: 60_050 }];
  expect(labelOf(row("charge", { to: 60_100, failed }), 0)).toBe(
    "charge, completed, 2 attempts, took 1 min of which 1 min errored until it was retried",
  );
});

test("a crash and a late runner are told too", () => {
  expect(labelOf(row("charge", { to: 40, starts: 3 }), 0)).toBe(
    "charge, completed, 2 starts cut off by a crash, took 40 ms",
  );
  expect(labelOf(row("nap", { type: "sleep", to: 1500, wake: 1000 }), 0)).toBe(
    "nap, completed, slept 1.5 s of which 500 ms waiting for a runner",
  );
});

test("the numbers of a step are those of its bar", () => {
  expect(factsOf(row("charge", retried), 0)).toMatchObject({
    took: 2100,
    worked: 100,
    retryWaited: 2000,
    attempts: 3,
    lastError: { message: "failure 2" },
  });
  const running = row(
    "charge",
    { failed: [{ at: 10, retry: 20 }], retry: 20 },
    { running: [sampleBody("charge", 30, 2)] },
  );
  expect(factsOf(running, at(100))).toMatchObject({ took: 100, worked: 80, retryWaited: 20, attempts: 2 });
});
