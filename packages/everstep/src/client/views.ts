/** What callers see of records: decoded values, dates, and nothing they have no use for. */
import { decodeValue } from "../authoring/codec.ts";
import { isSensitive } from "../authoring/sensitive.ts";
import type { EventRecord } from "../model/event.ts";
import type { InstanceRecord, InstanceRef, InstanceStatus, TerminationReason } from "../model/instance.ts";
import type { LogLevel, StoredLogLine } from "../model/log-line.ts";
import type { StepRecord, StepStatus, StepType } from "../model/step.ts";
import type { EncodedValue, StoredError } from "../model/value.ts";
import type { TopicWaiter } from "../store/store.ts";

/** `output` is there when complete, `error` when errored. */
export type InstanceStatusView<Output = any> =
  | { readonly status: "complete"; readonly output: Output; readonly error?: undefined }
  | { readonly status: "errored"; readonly error: ErrorView; readonly output?: undefined }
  | {
      readonly status: Exclude<InstanceStatus, "complete" | "errored">;
      readonly output?: undefined;
      readonly error?: undefined;
    };

export interface ErrorView {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  /** Facts for programs, of errors that have a code of ours: what a schema found, for instance. */
  readonly details?: unknown;
  /** Where it was thrown; in details and histories, not in a plain status. */
  readonly stack?: string;
}

export type InstanceView<Output = any> = InstanceStatusView<Output> & InstanceFacts;

export interface InstanceFacts extends InstanceRef {
  readonly id: string;
  readonly runNumber: number;
  readonly params: unknown;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly startedAt: Date | null;
  readonly completedAt: Date | null;
  /** When the run wants its next turn. */
  readonly dueAt: Date | null;
  readonly deadlineAt: Date | null;
  readonly retentionUntil: Date | null;
  readonly parent: InstanceRef | null;
  readonly terminationReason: TerminationReason | null;
  /** A runner is at it right now. */
  readonly executing: boolean;
  /** Due, and no runner has taken it: all are busy, a concurrency cap holds it, or none knows the workflow. */
  readonly queued: boolean;
  readonly deadLetter: boolean;
}

export interface StepView {
  readonly stepKey: string;
  readonly name: string;
  readonly index: number;
  readonly type: StepType;
  readonly status: StepStatus | "running";
  readonly attempts: number;
  /** Starts of the body, those cut off by a crash included. */
  readonly starts: number;
  readonly maxAttempts: number | null;
  readonly timeoutMs: number | null;
  readonly nextRetryAt: Date | null;
  readonly wakeAt: Date | null;
  readonly waitEventType: string | null;
  readonly topic: string | null;
  readonly parentKey: string | null;
  readonly depth: number;
  readonly result?: unknown;
  /** It has a result that is not shown: its step is marked `sensitive`. */
  readonly sensitive?: true;
  readonly error?: ErrorView;
  /** Every failed attempt, oldest first. */
  readonly errors: readonly AttemptErrorView[];
  readonly createdAt: Date;
  readonly settledAt: Date | null;
}

export interface AttemptErrorView extends ErrorView {
  readonly attempt: number;
  readonly at: Date;
  /** When the next attempt was due; null after the last one. */
  readonly retryAt: Date | null;
}

/** A body at work, whether or not its step has a record already. */
export interface RunningBodyView {
  readonly stepKey: string;
  readonly name: string;
  /** The number of this start, first is 1. */
  readonly start: number;
  readonly startedAt: Date;
}

/** A wait on a topic. */
export interface WaiterView extends InstanceRef {
  readonly runNumber: number;
  readonly stepKey: string;
  readonly topic: string;
  readonly deadlineAt: Date;
}

export interface EventView {
  readonly id: string;
  readonly type: string | null;
  readonly topic: string | null;
  readonly payload: unknown;
  readonly createdAt: Date;
  readonly deliveredAt: Date | null;
  readonly consumedByStepKey: string | null;
}

export interface LogLineView {
  readonly id: string;
  readonly runNumber: number;
  readonly stepKey: string | null;
  readonly attempt: number | null;
  readonly level: LogLevel;
  readonly category: string;
  readonly message: string;
  readonly data: unknown;
  readonly isReplay: boolean;
  readonly createdAt: Date;
}

export function statusView(
  record: Pick<InstanceRecord, "status" | "output" | "error">,
  read: (value: EncodedValue) => unknown = decodeValue,
): InstanceStatusView {
  const { status, output, error } = record;
  if (status === "complete") return { status, output: output ? read(output) : undefined };
  if (status === "errored") return { status, error: errorView(error ?? unknownError) };
  return { status };
}

const unknownError: StoredError = { name: "Error", message: "The error was not recorded." };

export function errorView(error: StoredError): ErrorView {
  const { name, message, code } = error;
  if (code === undefined) return { name, message };
  const details = detailsOf(error);
  return { name, message, code, ...(details === undefined ? {} : { details }) };
}

/** Only of errors of ours: those of authors and their libraries may carry anything, passwords included. */
function detailsOf({ properties }: StoredError): unknown {
  if (properties === undefined) return undefined;
  const kept = legible(properties);
  return typeof kept === "object" && kept !== null
    ? (kept as { readonly details?: unknown }).details
    : undefined;
}

function errorWithStack(error: StoredError): ErrorView {
  return error.stack === undefined ? errorView(error) : { ...errorView(error), stack: error.stack };
}

export function instanceView(record: InstanceRecord, now: number): InstanceView {
  const { status, executing, dueAt } = record;
  return {
    ...statusView(record, legible),
    id: record.instanceId,
    workflowName: record.workflowName,
    instanceId: record.instanceId,
    runNumber: record.runNumber,
    params: legible(record.params),
    createdAt: new Date(record.createdAt),
    updatedAt: new Date(record.updatedAt),
    startedAt: dateOrNull(record.startedAt),
    completedAt: dateOrNull(record.completedAt),
    dueAt: dateOrNull(dueAt),
    deadlineAt: dateOrNull(record.deadlineAt),
    retentionUntil: dateOrNull(record.retentionUntil),
    parent: record.parent,
    terminationReason: record.terminationReason,
    executing,
    queued: !executing && (status === "active" || status === "waiting") && dueAt !== null && dueAt <= now,
    deadLetter: record.deadLetter,
  };
}

/** Of a record that was read in brief. */
export function withoutValues(view: InstanceView): InstanceView {
  return { ...view, params: undefined, output: undefined } as InstanceView;
}

/** With the stack of its error, which lists are spared. */
export function instanceDetails(record: InstanceRecord, now: number): InstanceView {
  const view = instanceView(record, now);
  if (view.status !== "errored" || !record.error) return view;
  return { ...view, error: errorWithStack(record.error) };
}

/** Whether the result of a step that is marked `sensitive` may be seen by whoever asks. */
export type MayShow = (step: StepRecord) => boolean;

const nobody: MayShow = () => false;

export function stepView(step: StepRecord, mayShow: MayShow = nobody): StepView {
  const retrying = step.status === "waiting" && step.waitsFor === "retry";
  const wakes = step.type === "do" ? null : step.wakeAt;
  return {
    stepKey: step.key,
    name: step.name,
    index: step.index,
    type: step.type,
    status: step.status,
    attempts: step.attempts,
    starts: step.starts,
    maxAttempts: step.maxAttempts,
    timeoutMs: step.timeoutMs,
    nextRetryAt: retrying ? new Date(step.wakeAt) : null,
    wakeAt: dateOrNull(wakes),
    waitEventType: step.eventType,
    topic: step.topic,
    parentKey: step.parentKey,
    depth: step.depth,
    ...resultOf(step, mayShow),
    ...lastError(step),
    errors: step.errors.map(({ attempt, at, error, retryAt }) => ({
      ...errorWithStack(error),
      attempt,
      at: new Date(at),
      retryAt: dateOrNull(retryAt ?? null),
    })),
    createdAt: new Date(step.createdAt),
    settledAt: step.status === "waiting" ? null : new Date(step.settledAt),
  };
}

/** Of a step that was read in brief: that it is sensitive is known all the same. */
export function withoutResultIf(brief: boolean, step: StepView): StepView {
  if (!brief) return step;
  const { result: _, ...others } = step;
  return others;
}

function resultOf(step: StepRecord, mayShow: MayShow): Pick<StepView, "result" | "sensitive"> {
  if (step.status !== "completed") return {};
  return isSensitive(step.result) && !mayShow(step) ? { sensitive: true } : { result: legible(step.result) };
}

function lastError(step: StepRecord): { readonly error?: ErrorView } {
  const error = step.status === "errored" ? step.error : step.errors.at(-1)?.error;
  return error && step.status !== "completed" ? { error: errorWithStack(error) } : {};
}

export function waiterView(waiter: TopicWaiter): WaiterView {
  return { ...waiter, deadlineAt: new Date(waiter.deadlineAt) };
}

export function eventView(event: EventRecord): EventView {
  return {
    id: event.id,
    type: event.type,
    topic: event.topic,
    payload: legible(event.payload),
    createdAt: new Date(event.createdAt),
    deliveredAt: dateOrNull(event.deliveredAt),
    consumedByStepKey: event.consumedBy,
  };
}

export function logLineView(line: StoredLogLine, runNumber: number): LogLineView {
  return {
    id: `${runNumber}-${line.seq}`,
    runNumber,
    stepKey: line.stepKey,
    attempt: line.attempt,
    level: line.level,
    category: line.category,
    message: line.message,
    data: line.data === null ? null : legible(line.data),
    isReplay: line.isReplay,
    createdAt: new Date(line.createdAt),
  };
}

/** What is known to have begun and is not settled yet. */
export function runningBodies(
  begun: InstanceRecord["begun"],
  steps: readonly StepRecord[],
): readonly RunningBodyView[] {
  const settled = new Set(steps.filter(({ status }) => status !== "waiting").map(({ key }) => key));
  return begun
    .filter(({ key }) => !settled.has(key))
    .map(({ key, name, start, at }) => ({ stepKey: key, name, start, startedAt: new Date(at) }));
}

/** The step people ask about: one that is running, else the one waited for, else the last. */
export function currentStep(
  record: InstanceRecord,
  steps: readonly StepRecord[],
  mayShow?: MayShow,
): StepView | undefined {
  const begun = record.executing ? record.begun.at(-1) : undefined;
  if (begun) {
    const known = steps.find((step) => step.key === begun.key);
    if (!known || known.status === "waiting") return runningView(begun, known);
  }
  const waiting = steps
    .filter((step) => step.status === "waiting")
    .sort((a, b) => (a.wakeAt ?? 0) - (b.wakeAt ?? 0));
  const shown = waiting[0] ?? steps.toSorted((a, b) => a.index - b.index).at(-1);
  return shown ? stepView(shown, mayShow) : undefined;
}

function runningView(begun: InstanceRecord["begun"][number], known: StepRecord | undefined): StepView {
  const base: Omit<StepView, "status"> = known
    ? { ...stepView(known), starts: begun.start }
    : {
        stepKey: begun.key,
        name: begun.name,
        index: -1,
        type: "do",
        attempts: 0,
        starts: begun.start,
        maxAttempts: null,
        timeoutMs: null,
        nextRetryAt: null,
        wakeAt: null,
        waitEventType: null,
        topic: null,
        parentKey: null,
        depth: 0,
        errors: [],
        createdAt: new Date(begun.at),
        settledAt: null,
      };
  return { ...base, status: "running" };
}

/** One damaged value must not hide a whole list from those who would repair it; what is shown in its place says so. */
function legible(value: EncodedValue): unknown {
  try {
    return decodeValue(value);
  } catch (error) {
    return { unreadable: error instanceof Error ? error.message : String(error) };
  }
}

function dateOrNull(time: number | null): Date | null {
  return time === null ? null : new Date(time);
}
