import type { InstanceStatus, WireRunningBody, WireStep } from "everstep/client";
import { expect, test } from "vitest";
import { phasesOf, timesOf } from "./phases.ts";
import { runRowsOf } from "./rows.ts";
import { at, sampleBody, sampleMeta, sampleStep } from "./sample-steps.ts";

interface Given {
  readonly steps?: readonly WireStep[];
  readonly running?: readonly WireRunningBody[];
  readonly meta?: Parameters<typeof sampleMeta>[0];
  readonly status?: InstanceStatus;
}

function phases(now: number, { steps = [], running = [], meta = {}, status = "active" }: Given) {
  return phasesOf(runRowsOf({ steps, running, meta: sampleMeta(meta), status }), status, at(now));
}

const lines = (...given: Parameters<typeof phases>) =>
  phases(...given).map(({ kind, from, to }) => `${kind} ${from - at(0)}-${to - at(0)}`);

test("every moment of an instance is one thing", () => {
  const steps = [
    sampleStep("a", { index: 0, from: 10, to: 130, failed: [{ at: 20, retry: 120 }] }),
    sampleStep("nap", { index: 1, type: "sleep", from: 135, to: 240, wake: 235 }),
    sampleStep("word", { index: 2, type: "waitForEvent", from: 240, to: 300, wake: 9999 }),
  ];
  const meta = { created: 0, started: 8, ended: 310 };
  expect(lines(0, { steps, meta, status: "complete" })).toEqual([
    "queued 0-8",
    "between 8-10",
    "failed 10-20",
    "retry 20-120",
    "work 120-130",
    "between 130-135",
    "sleep 135-235",
    "queued 235-240",
    "event 240-300",
    "between 300-310",
  ]);
});

test("the parts add up to the total", () => {
  const steps = [sampleStep("a", { from: 10, to: 130, failed: [{ at: 20, retry: 120 }] })];
  const times = timesOf(phases(0, { steps, meta: { started: 8, ended: 200 }, status: "complete" }));
  expect(times).toMatchObject({
    total: 200,
    work: 10,
    failed: 10,
    retry: 100,
    queued: 8,
    between: 72,
    sleep: 0,
    event: 0,
  });
});

test("attempts that failed are told apart from work, and so is the time until somebody retried them", () => {
  const failed = [{ at: 50, reopened: 900, retry: 900 }, { at: 1000 }];
  const steps = [
    sampleStep("a", { index: 0, from: 0, to: 1000, status: "errored", failed }),
    sampleStep("b", { index: 1, from: 20, to: 30 }),
  ];
  expect(lines(0, { steps, meta: { ended: 1000 }, status: "errored" })).toEqual([
    "failed 0-20",
    "work 20-30",
    "failed 30-50",
    "errored 50-900",
    "failed 900-1000",
  ]);
});

test("while one step works, others that wait do not count", () => {
  const steps = [
    sampleStep("nap", { index: 0, type: "sleep", from: 0, to: 100, wake: 100 }),
    sampleStep("a", { index: 1, from: 20, to: 50 }),
    sampleStep("b", { index: 2, from: 40, to: 60 }),
  ];
  expect(lines(0, { steps, meta: { ended: 100 }, status: "complete" })).toEqual([
    "sleep 0-20",
    "work 20-60",
    "sleep 60-100",
  ]);
});

test("a body that waits for what is inside of it is not at work", () => {
  const steps = [
    sampleStep("outer", { index: 0, from: 0, to: 100 }),
    sampleStep("nap", {
      index: 1,
      stepKey: "outer/nap",
      parentKey: "outer",
      type: "sleep",
      from: 10,
      to: 90,
      wake: 90,
    }),
  ];
  expect(lines(0, { steps, meta: { ended: 100 }, status: "complete" })).toEqual([
    "work 0-10",
    "sleep 10-90",
    "work 90-100",
  ]);
});

test("a body at work is so until now", () => {
  expect(lines(500, { running: [sampleBody("a", 20)] })).toEqual(["between 0-20", "work 20-500"]);
});

test("what has not begun is queued, and what is paused is paused", () => {
  expect(lines(500, { meta: { started: null } })).toEqual(["queued 0-500"]);
  const steps = [sampleStep("a", { from: 0, to: 100 })];
  expect(lines(500, { steps, status: "paused" })).toEqual(["work 0-100", "paused 100-500"]);
});

test("what was taken over from an earlier run is not counted", () => {
  const steps = [sampleStep("a", { from: 0, to: 100 })];
  const given = { steps, meta: { created: 1000, started: 1010, ended: 1050 }, status: "complete" } as const;
  expect(lines(0, given)).toEqual(["earlier 0-1000", "queued 1000-1010", "between 1010-1050"]);
  expect(timesOf(phases(0, given)).total).toBe(50);
});

test("time until a body that a crash had cut off began again is lost to the crash", () => {
  const steps = [sampleStep("a", { index: 0, from: 0, to: 100 })];
  const running = [sampleBody("b", 900, 2)];
  expect(lines(1000, { steps, running })).toEqual(["work 0-100", "lost 100-900", "work 900-1000"]);
});

test("an instance whose start is still to come is scheduled, and queued only once it is due", () => {
  const meta = { created: 0, started: null, due: 100 };
  expect(lines(40, { meta })).toEqual(["scheduled 0-40"]);
  expect(lines(140, { meta })).toEqual(["scheduled 0-100", "queued 100-140"]);
});
