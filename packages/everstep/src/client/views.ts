/** What callers see of records: decoded values, dates, and nothing they have no use for. */
import { decodeValue } from "../authoring/codec.ts";
import { isSensitive } from "../authoring/sensitive.ts";
import type { InstanceStatusView, InstanceView } from "../handles/views.ts";
import type { EventRecord } from "../model/event.ts";
import type { BegunBody, InstanceRecord } from "../model/instance.ts";
import type { StoredLogLine } from "../model/log-line.ts";
import type { StepRecord } from "../model/step.ts";
import type { EncodedValue, StoredError } from "../model/value.ts";
import type { TopicWaiter } from "../store/store.ts";
import type {
  ErrorView,
  EventView,
  LogLineView,
  RunningBodyView,
  StepView,
  WaiterView,
} from "../wire/index.ts";
import { runningStep } from "../wire/running-step.ts";

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
    errors: step.errors.map(({ attempt, at, error, retryAt, reopenedAt }) => ({
      ...errorWithStack(error),
      attempt,
      at: new Date(at),
      retryAt: dateOrNull(retryAt ?? null),
      ...(reopenedAt === undefined ? {} : { reopenedAt: new Date(reopenedAt) }),
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
  return begun.filter(({ key }) => !settled.has(key)).map(bodyView);
}

function bodyView({ key, name, start, at }: BegunBody): RunningBodyView {
  return { stepKey: key, name, start, startedAt: new Date(at) };
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
    if (!known || known.status === "waiting") return runningStep(bodyView(begun), known && stepView(known));
  }
  const waiting = steps
    .filter((step) => step.status === "waiting")
    .sort((a, b) => (a.wakeAt ?? 0) - (b.wakeAt ?? 0));
  const shown = waiting[0] ?? steps.toSorted((a, b) => a.index - b.index).at(-1);
  return shown ? stepView(shown, mayShow) : undefined;
}

/** One damaged value must not hide a whole list from those who would repair it; what is shown in its place says so. */
export function legible(value: EncodedValue): unknown {
  try {
    return decodeValue(value);
  } catch (error) {
    return { unreadable: error instanceof Error ? error.message : String(error) };
  }
}

function dateOrNull(time: number | null): Date | null {
  return time === null ? null : new Date(time);
}
