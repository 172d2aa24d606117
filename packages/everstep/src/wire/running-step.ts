import type { RunningBodyView, StepView, WireRunningBody, WireStep } from "./steps.ts";

/** The step of a body at work: as it is recorded, or all that is known of one without a record. */
export function runningStep(body: RunningBodyView, known: StepView | undefined): StepView;
export function runningStep(body: WireRunningBody, known: WireStep | undefined): WireStep;
export function runningStep(
  { stepKey, name, start, startedAt }: RunningBodyView | WireRunningBody,
  known: StepView | WireStep | undefined,
): object {
  if (known) return { ...known, status: "running", starts: start };
  return {
    stepKey,
    name,
    index: -1,
    type: "do",
    status: "running",
    attempts: 0,
    starts: start,
    maxAttempts: null,
    timeoutMs: null,
    nextRetryAt: null,
    wakeAt: null,
    waitEventType: null,
    topic: null,
    parentKey: null,
    depth: 0,
    errors: [],
    createdAt: startedAt,
    settledAt: null,
  } satisfies Record<Exclude<keyof StepView, "result" | "sensitive" | "error">, unknown>;
}
