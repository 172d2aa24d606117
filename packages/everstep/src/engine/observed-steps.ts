/** What a commit that was applied means to those who look on: waits that are open or over, and attempts that are to follow. */
import type { ObservedRun, ObservedStep, ObservedWait, Observer, WaitEnd } from "../model/observer.ts";
import type { SettledStep, StepRecord, WaitingStep } from "../model/step.ts";

interface StepsPlace {
  readonly ref: ObservedRun;
  readonly observer: Observer;
}

/** `sentAt`: when the events were sent that these steps took, by their keys. */
export function tellOfSteps(
  { ref, observer }: StepsPlace,
  records: readonly StepRecord[],
  sentAt: ReadonlyMap<string, number>,
): void {
  const { onRetry, onWaitStart, onWaitEnd } = observer;
  if (onRetry === undefined && onWaitStart === undefined && onWaitEnd === undefined) return;
  for (const record of records) {
    if (record.type === "do") {
      if (record.status === "waiting") tellRetry(ref, record, observer);
    } else if (record.status === "waiting") observer.onWaitStart?.(waitOf(ref, record));
    else observer.onWaitEnd?.(waitOf(ref, record), endOf(record, sentAt.get(record.key)));
  }
}

function tellRetry(ref: ObservedRun, record: WaitingStep, observer: Observer): void {
  const { starts: attempt, wakeAt: retryAt, errors } = record;
  observer.onRetry?.({ ...stepOf(ref, record), attempt, retryAt, error: errors.at(-1)?.error ?? null });
}

function stepOf(
  { workflowName, instanceId, runNumber }: ObservedRun,
  { key, name }: StepRecord,
): ObservedStep {
  return { workflowName, instanceId, runNumber, stepKey: key, stepName: name };
}

function waitOf(ref: ObservedRun, record: StepRecord): ObservedWait {
  const { type, eventType, topic, createdAt, wakeAt } = record;
  const kind = type === "sleep" ? "sleep" : topic === null ? "event" : "topic";
  return {
    ...stepOf(ref, record),
    ...{ kind, awaited: topic ?? eventType, startedAt: createdAt },
    until: wakeAt ?? createdAt,
  };
}

function endOf(record: SettledStep, sentAt: number | undefined): WaitEnd {
  const { type, createdAt, settledAt } = record;
  const waitedMs = settledAt - createdAt;
  const wasDueAt = sentAt === undefined ? (record.wakeAt ?? settledAt) : Math.max(sentAt, createdAt);
  const lateMs = Math.max(0, settledAt - wasDueAt);
  if (type === "sleep") return { outcome: sentAt === undefined ? "over" : "skipped", waitedMs, lateMs };
  if (record.status === "completed") return { outcome: "received", waitedMs, lateMs };
  const isTimeout = record.error.name === "WaitForEventTimeoutError";
  return isTimeout
    ? { outcome: "timed-out", waitedMs, lateMs }
    : { outcome: "failed", waitedMs, lateMs: null };
}
