/** For tests: runs that are as they should be, with what the case changes. */

import type { EventRecord } from "../../packages/everstep/src/model/event.ts";
import { type InstanceRecord, inputNotGiven } from "../../packages/everstep/src/model/instance.ts";
import type {
  CompletedStep,
  ErroredStep,
  StepRecord,
  WaitingStep,
} from "../../packages/everstep/src/model/step.ts";
import { checkRun } from "../../packages/everstep/src/verify/check-run.ts";
import { checkSuccession } from "../../packages/everstep/src/verify/check-succession.ts";
import type { RunFacts } from "../../packages/everstep/src/verify/run-facts.ts";
import type { Violation } from "../../packages/everstep/src/verify/violation.ts";
import { completed, errored, json, waiting } from "./sample-records.ts";

/** What every sample is judged at; nothing in them is younger. */
export const sampleNow = 10_000;

/** Under a lease, in the middle of its work. */
export function activeRecord(facts: Partial<InstanceRecord> = {}): InstanceRecord {
  return {
    ...inputNotGiven,
    workflowName: "order",
    instanceId: "o-1",
    runId: 1,
    runNumber: 1,
    status: "active",
    params: json({}),
    output: null,
    error: null,
    terminationReason: null,
    deadLetter: false,
    createdAt: 0,
    startedAt: 0,
    updatedAt: 5,
    completedAt: null,
    pausedAt: null,
    retentionUntil: null,
    executing: true,
    dueAt: 30_000,
    crashCount: 0,
    token: 3,
    begun: [],
    ...facts,
  };
}

export function pendingRecord(facts: Partial<InstanceRecord> = {}): InstanceRecord {
  return activeRecord({ executing: false, dueAt: 20_000, ...facts });
}

export function waitingRecord(facts: Partial<InstanceRecord> = {}): InstanceRecord {
  return pendingRecord({ status: "waiting", ...facts });
}

export function pausedRecord(facts: Partial<InstanceRecord> = {}): InstanceRecord {
  return pendingRecord({ status: "paused", pausedAt: 4, dueAt: null, ...facts });
}

export function completeRecord(facts: Partial<InstanceRecord> = {}): InstanceRecord {
  const ended = { completedAt: 9, dueAt: null, output: json("shipped") };
  return pendingRecord({ status: "complete", ...ended, ...facts });
}

export function erroredRecord(facts: Partial<InstanceRecord> = {}): InstanceRecord {
  const ended = { completedAt: 9, dueAt: null, error: { name: "Error", message: "down" } };
  return pendingRecord({ status: "errored", ...ended, ...facts });
}

export function terminatedRecord(facts: Partial<InstanceRecord> = {}): InstanceRecord {
  const ended = {
    completedAt: 9,
    dueAt: null,
    terminationReason: { source: "user", message: null },
  } as const;
  return pendingRecord({ status: "terminated", ...ended, ...facts });
}

type Named<Step extends StepRecord> = Partial<Step> & { readonly key: string };

const noBody = { attempts: 0, starts: 0 } as const;

export function doneStep(facts: Named<CompletedStep>): CompletedStep {
  return completed(facts);
}

export function failedStep(facts: Named<ErroredStep>): ErroredStep {
  return errored(facts);
}

/** Failed once, to be tried again. */
export function retryStep(facts: Named<WaitingStep>): WaitingStep {
  const errors = [{ attempt: 1, at: 1, error: { name: "Error", message: "down" } }];
  return waiting({ type: "do", attempts: 1, starts: 1, errors, wakeAt: 20_000, ...facts });
}

export function openSleep(facts: Named<WaitingStep>): WaitingStep {
  return waiting({ type: "sleep", wakeAt: 20_000, ...facts });
}

export function doneSleep(facts: Named<CompletedStep>): CompletedStep {
  return completed({ type: "sleep", ...noBody, wakeAt: 1, settledAt: 1, ...facts });
}

export function openWait(facts: Named<WaitingStep>): WaitingStep {
  return waiting({ type: "waitForEvent", eventType: "paid", wakeAt: 20_000, ...facts });
}

export function doneWait(facts: Named<CompletedStep>): CompletedStep {
  return completed({
    type: "waitForEvent",
    ...noBody,
    eventType: "paid",
    wakeAt: 20_000,
    settledAt: 5,
    ...facts,
  });
}

export function timedOutWait(facts: Named<ErroredStep>): ErroredStep {
  const error = { name: "WaitForEventTimeoutError", message: "too late", code: "WAIT_FOR_EVENT_TIMEOUT" };
  const times = { wakeAt: 3, settledAt: 3 };
  return errored({
    type: "waitForEvent",
    ...noBody,
    errors: [],
    eventType: "paid",
    error,
    ...times,
    ...facts,
  });
}

export function sent(facts: Partial<EventRecord> & { readonly seq: number }): EventRecord {
  return {
    id: `event-${facts.seq}`,
    type: "paid",
    topic: null,
    forStep: null,
    system: false,
    payload: json(facts.seq),
    createdAt: 2,
    deliveredAt: null,
    consumedBy: null,
    ...facts,
  };
}

export function taken(
  consumedBy: string,
  facts: Partial<EventRecord> & { readonly seq: number },
): EventRecord {
  return sent({ deliveredAt: 5, consumedBy, ...facts });
}

export function runOf(
  record: InstanceRecord,
  steps: readonly StepRecord[] = [],
  events: readonly EventRecord[] = [],
): RunFacts {
  return { record, isCurrent: true, steps, events };
}

/** What is found in one look, in short: "INV-7", "INV-31 unless code-changed". */
export function foundIn(facts: RunFacts): readonly string[] {
  return checkRun(facts, sampleNow).map(short);
}

export function foundBetween(before: RunFacts, after: RunFacts): readonly string[] {
  return checkSuccession(before, after).map(short);
}

function short({ invariant, unless }: Violation): string {
  return unless === undefined ? invariant : `${invariant} unless ${unless}`;
}
