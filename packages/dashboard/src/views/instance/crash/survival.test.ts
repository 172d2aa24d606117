import type { InstanceStatus, InstanceWithSteps, WireRunningBody, WireStep } from "everstep/client";
import { expect, test } from "vitest";
import { demoOf, survivalOf, survivalText } from "./survival.ts";

const step = (stepKey: string, starts: number, settledAt: string | null = "2026-01-01T00:00:00Z"): WireStep =>
  ({
    stepKey,
    starts,
    settledAt,
    status: settledAt === null ? "waiting" : "completed",
    errors: [],
  }) as unknown as WireStep;
const body = (stepKey: string, start: number): WireRunningBody => ({
  stepKey,
  name: stepKey,
  start,
  startedAt: "2026-01-01T00:00:01Z",
});

test("what was completed is as it was; what was cut off has begun again", () => {
  const before = { steps: [step("reserve", 1)], running: [body("charge", 1)] };
  const after = { steps: [step("reserve", 1)], running: [body("charge", 2)] };
  expect(survivalOf(before, after)).toEqual({
    completed: 1,
    kept: 1,
    again: [{ name: "charge", start: 2 }],
  });
});

test("a body that was cut off and is over by now counts as begun again", () => {
  const before = { steps: [], running: [body("charge", 1)] };
  const after = { steps: [step("charge", 2)], running: [] };
  expect(survivalOf(before, after).again).toEqual([{ name: "charge", start: 2 }]);
});

test("retries long after the crash do not change what is said of it, and what failed by itself was not cut off", () => {
  const before = { steps: [], running: [body("charge", 1)] };
  const later = { steps: [step("charge", 4, null)], running: [body("charge", 5)] };
  expect(survivalOf(before, later).again).toEqual([{ name: "charge", start: 2 }]);
  const failed = { ...step("charge", 1, null), errors: [{ attempt: 1 }] } as unknown as WireStep;
  expect(survivalOf(before, { steps: [failed], running: [body("charge", 2)] }).again).toEqual([]);
});

test("a completed step that ran again, or is gone, is not said to be kept", () => {
  const before = { steps: [step("reserve", 1), step("pack", 1)], running: [] };
  const after = { steps: [step("reserve", 2, "2026-01-01T00:00:09Z")], running: [] };
  expect(survivalOf(before, after)).toMatchObject({ completed: 2, kept: 0 });
});

test("a body of which nothing is known yet has not begun again", () => {
  expect(survivalOf({ steps: [], running: [body("charge", 1)] }, { steps: [], running: [] }).again).toEqual(
    [],
  );
});

test("one step is spoken of as one, several as several", () => {
  const text = (completed: number, kept: number) => survivalText({ completed, kept, again: [] }, false);
  expect(text(0, 0)).toMatch(/No step had completed before the kill\.$/);
  expect(text(1, 1)).toMatch(/1 step had completed before the kill; it did not run again\.$/);
  expect(text(3, 3)).toMatch(/3 steps had completed before the kill; none of them ran again\.$/);
  expect(text(1, 0)).toContain("; it ran again or is gone.");
  expect(text(3, 2)).toContain("; 1 of them ran again or is gone.");
  expect(text(3, 1)).toContain("; 2 of them ran again or are gone.");
});

test("a kill is offered only where a process is at it or comes back to it: not paused, scheduled or ended", () => {
  const of = (status: InstanceStatus, startedAt: string | null = "2026-01-01T00:00:00Z") =>
    demoOf(
      { details: { status }, meta: { startedAt, dueAt: "2026-01-01T01:00:00Z" } } as InstanceWithSteps,
      Date.UTC(2026, 0, 1),
    );
  expect(of("active")).toBe("See it survive: kill the process that runs this.");
  expect(of("waiting")).toBe("See it survive: kill the process while this waits.");
  expect([of("active", null), of("paused"), of("complete"), of("errored"), of("terminated")]).toEqual([
    null,
    null,
    null,
    null,
    null,
  ]);
});
