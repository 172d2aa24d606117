import type { WireError, WireStep } from "everstep/client";
import { expect, test } from "vitest";
import { failedStep } from "./failed-step.ts";
import { leadKind } from "./lead-kind.ts";

const of = (given: Partial<Parameters<typeof leadKind>[0]>) =>
  leadKind({ status: "waiting", why: null, waitCount: 0, bodyCount: 0, ...given });

test("a wait is told by the strip alone; what the strip cannot know is told in a sentence", () => {
  expect(of({ why: { reason: "waiting-for-event" }, waitCount: 1 })).toBe("waits");
  expect(of({ why: { reason: "queued" }, waitCount: 1 })).toBe("why");
  expect(of({ status: "active", why: { reason: "not-started-yet" } })).toBe("scheduled");
  expect(of({ status: "active", why: { reason: "no-runner" } })).toBe("why");
  expect(of({ status: "active", why: { reason: "executing" }, bodyCount: 1 })).toBe("running");
  expect(of({ status: "active", why: { reason: "runner-silent" }, bodyCount: 1 })).toBe("why");
});

test("how it ended is told by what there is of it", () => {
  expect((["errored", "terminated", "paused", "complete"] as const).map((status) => of({ status }))).toEqual([
    "error",
    "terminated",
    "paused",
    "nothing",
  ]);
});

test("the step that failed a run is the one to retry, else the last one with its error", () => {
  const error: WireError = { name: "Error", message: "no" };
  const step = (stepKey: string, settledAt: string, message = "no") =>
    ({ stepKey, settledAt, status: "errored", error: { name: "Error", message } }) as WireStep;
  const steps = [step("a", "2026-01-02"), step("b", "2026-01-01"), step("c", "2026-01-03", "other")];
  expect(failedStep(steps, error, null)?.stepKey).toBe("a");
  expect(failedStep(steps, error, { stepKey: "b" })?.stepKey).toBe("b");
  expect(failedStep([], error, null)).toBe(null);
});
