import type { WireRunningBody, WireStep } from "everstep/client";
import { expect, test } from "vitest";
import { at, sampleBody, sampleStep } from "./sample-steps.ts";
import { asOf, type Segment, segmentsOf } from "./segments.ts";

/** "attempt 0-10 failed", with `…` for what goes on. */
function told(step: WireStep | null, body: WireRunningBody | null = null, endedAt: number | null = null) {
  return segmentsOf({ step, body, endedAt: endedAt === null ? null : at(endedAt) }).map(lineOf);
}

function lineOf({ kind, from, to, outcome, cutOff, due }: Segment): string {
  const marks = [
    ...(cutOff ? [`after ${cutOff} cut off`] : []),
    ...(due === null ? [] : [`due ${due - at(0)}`]),
  ];
  return [kind, `${from - at(0)}-${to === null ? "…" : to - at(0)}`, outcome, ...marks].join(" ");
}

test("a step that was tried again is attempt, wait, attempt", () => {
  const failed = [
    { at: 10, retry: 110 },
    { at: 130, retry: 330 },
  ];
  expect(told(sampleStep("charge", { from: 0, to: 350, failed }))).toEqual([
    "attempt 0-10 failed",
    "retry 10-110 completed",
    "attempt 110-130 failed",
    "retry 130-330 completed",
    "attempt 330-350 completed",
  ]);
});

test("a step whose last attempt failed ends with it", () => {
  const failed = [{ at: 10, retry: 110 }, { at: 120 }];
  expect(told(sampleStep("charge", { status: "errored", to: 120, failed }))).toEqual([
    "attempt 0-10 failed",
    "retry 10-110 completed",
    "attempt 110-120 failed",
  ]);
});

test("a step that waits for its next attempt says when that is due", () => {
  const step = sampleStep("charge", { failed: [{ at: 10, retry: 500 }], retry: 500 });
  expect(told(step)).toEqual(["attempt 0-10 failed", "retry 10-… open due 500"]);
});

test("a body that runs now goes on from when it really began", () => {
  const step = sampleStep("charge", { failed: [{ at: 10, retry: 100 }], retry: 100 });
  expect(told(step, sampleBody("charge", 140, 2))).toEqual([
    "attempt 0-10 failed",
    "retry 10-140 completed",
    "attempt 140-… open",
  ]);
  expect(told(null, sampleBody("charge", 5))).toEqual(["attempt 5-… open"]);
});

test("starts that a crash cut off are marked at the attempt that followed", () => {
  const failed = [{ at: 10, retry: 100, start: 3 }];
  const step = sampleStep("charge", { to: 120, failed, starts: 5 });
  expect(told(step)).toEqual([
    "attempt 0-10 failed after 2 cut off",
    "retry 10-100 completed",
    "attempt 100-120 completed after 1 cut off",
  ]);
  expect(told(null, sampleBody("charge", 5, 3))).toEqual(["attempt 5-… open after 2 cut off"]);
});

test("a step that failed because a crash had cut it off is still seen", () => {
  expect(told(sampleStep("charge", { status: "errored", from: 5, to: 5, attempts: 0, starts: 0 }))).toEqual([
    "attempt 5-5 failed",
  ]);
});

test("attempts that are no longer kept one by one are one stretch", () => {
  const step = sampleStep("charge", {
    from: 0,
    to: 1000,
    attempts: 150,
    starts: 150,
    failed: [{ at: 900, retry: 950, start: 149 }],
  });
  expect(told(step)).toEqual([
    "forgotten 0-900 failed",
    "attempt 900-900 failed",
    "retry 900-950 completed",
    "attempt 950-1000 completed",
  ]);
});

test("from a failure for good until somebody retried it a step is errored, and what follows has its own time", () => {
  const failed = [
    { at: 10, reopened: 4000, retry: 4500 },
    { at: 4600, reopened: 9000, retry: 9000 },
    { at: 9100 },
  ];
  expect(told(sampleStep("charge", { status: "errored", to: 9100, failed }))).toEqual([
    "attempt 0-10 failed",
    "errored 10-4000 completed",
    "retry 4000-4500 completed",
    "attempt 4500-4600 failed",
    "errored 4600-9000 completed",
    "attempt 9000-9100 failed",
  ]);
});

test("a retried step that waits for its attempt, or is at it, was errored until it was retried", () => {
  const step = sampleStep("charge", { failed: [{ at: 10, reopened: 4000, retry: 5000 }], retry: 5000 });
  expect(told(step)).toEqual([
    "attempt 0-10 failed",
    "errored 10-4000 completed",
    "retry 4000-… open due 5000",
  ]);
  expect(told(step, sampleBody("charge", 5010, 2))).toEqual([
    "attempt 0-10 failed",
    "errored 10-4000 completed",
    "retry 4000-5010 completed",
    "attempt 5010-… open",
  ]);
});

test("records that do not say when a failed step was retried show it as errored until the end of the next attempt", () => {
  const step = sampleStep("charge", { to: 5000, failed: [{ at: 10 }] });
  expect(told(step)).toEqual([
    "attempt 0-10 failed",
    "errored 10-5000 completed",
    "attempt 5000-5000 completed",
  ]);
});

test("a sleep lasts until its time, and what follows is waiting for a runner", () => {
  expect(told(sampleStep("nap", { type: "sleep", from: 0, to: 108, wake: 100 }))).toEqual([
    "sleep 0-100 completed",
    "late 100-108 completed",
  ]);
});

test("a sleep that somebody ended early still shows how long it was to be", () => {
  expect(told(sampleStep("nap", { type: "sleep", from: 0, to: 40, wake: 100 }))).toEqual([
    "sleep 0-40 completed due 100",
  ]);
});

test("a wait whose event came is over, one that timed out has failed", () => {
  const wait = { type: "waitForEvent", from: 0, wake: 100 } as const;
  expect(told(sampleStep("approval", { ...wait, to: 40 }))).toEqual(["event 0-40 completed"]);
  expect(told(sampleStep("approval", { ...wait, to: 100, status: "errored" }))).toEqual([
    "event 0-100 failed",
  ]);
});

test("what was open when the instance ended ends with it", () => {
  expect(told(sampleStep("nap", { type: "sleep", wake: 100 }), null, 60)).toEqual([
    "sleep 0-60 left due 100",
  ]);
  expect(told(null, sampleBody("hold", 10), 60)).toEqual(["attempt 10-60 left"]);
});

test("what goes on has come as far as now, and is late once it is overdue", () => {
  const segments = segmentsOf({
    step: sampleStep("nap", { type: "sleep", wake: 100 }),
    body: null,
    endedAt: null,
  });
  expect(asOf(segments, at(70)).map(lineOf)).toEqual(["sleep 0-70 open due 100"]);
  expect(asOf(segments, at(130)).map(lineOf)).toEqual(["sleep 0-100 completed due 100", "late 100-130 open"]);
});
