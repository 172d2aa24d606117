/** Plans what a person or a step asks for as requests to the store. Pure: what must be known first is handed in. */
import { checkBytes, encodeValue } from "../authoring/codec.ts";
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { checkEventType, checkInstanceId } from "../authoring/names.ts";
import type { OutgoingEvent, StartOptions } from "../authoring/workflow-step.ts";
import { EverstepError } from "../model/error.ts";
import { type InstanceRef, type InstanceStatus, isTerminal, terminalStatuses } from "../model/instance.ts";
import { defaultLimits, type Limits } from "../model/limits.ts";
import type { ChangeRequest, CreateRequest, SendEventRequest } from "../model/request.ts";
import type { Runtime } from "../model/runtime.ts";
import type { StepRecord, StepType, WaitingStep } from "../model/step.ts";
import type { EncodedValue, StoredError } from "../model/value.ts";

const liveStatuses: readonly InstanceStatus[] = ["active", "waiting", "paused"];
const everyStatus: readonly InstanceStatus[] = [...liveStatuses, ...terminalStatuses];

export interface CreatePlan {
  readonly params: EncodedValue;
  readonly startAt?: number;
  readonly deadlineAt?: number | null;
  readonly retentionMs?: number | null;
  readonly parent?: InstanceRef | null;
  readonly history?: readonly StepRecord[];
}

export function planCreate(ref: InstanceRef, plan: CreatePlan, now: number): CreateRequest {
  return {
    kind: "create",
    workflowName: ref.workflowName,
    instanceId: ref.instanceId,
    params: plan.params,
    createdAt: now,
    dueAt: Math.max(plan.startAt ?? now, now),
    deadlineAt: plan.deadlineAt ?? null,
    retentionMs: plan.retentionMs ?? null,
    parent: plan.parent ?? null,
    history: plan.history ?? [],
    lease: null,
  };
}

/** An instance created by a step, with the step's own record. */
export function planAlongsideCreate(
  workflowName: string,
  definition: WorkflowDefinition | undefined,
  options: StartOptions,
  parent: InstanceRef,
  runtime: Runtime,
): CreateRequest {
  const limits = definition?.limits ?? defaultLimits;
  const instanceId = options.id === undefined ? runtime.uuid() : checkInstanceId(options.id, limits);
  const params = encodeParams(checkedNow(definition, options.params), limits);
  const { workflowName: parentWorkflow, instanceId: parentId } = parent;
  const plan: CreatePlan = {
    params,
    retentionMs: definition?.ttlMs ?? null,
    parent: { workflowName: parentWorkflow, instanceId: parentId },
  };
  return planCreate({ workflowName, instanceId }, plan, runtime.now());
}

/** A body registers children without waiting, so their schema must be able to answer at once. */
function checkedNow(definition: WorkflowDefinition | undefined, params: unknown): unknown {
  const schema = definition?.options.params;
  if (!definition || !schema) return params;
  const checked = schema["~standard"].validate(params === undefined ? {} : params);
  if (checked instanceof Promise) {
    throw new EverstepError(
      "INVALID_ARGUMENT",
      `The params of workflow "${definition.name}" are checked asynchronously, which startWorkflow cannot wait for. ` +
        "Create the instance with the workflow's handle instead.",
    );
  }
  if (checked.issues) throw paramsInvalid(definition.name, checked.issues);
  return checked.value;
}

export function paramsInvalid(
  workflowName: string,
  issues: readonly { readonly message: string }[],
): EverstepError {
  const messages = issues.map((issue) => issue.message);
  return new EverstepError(
    "WORKFLOW_PARAMS_INVALID",
    `The params do not fit workflow "${workflowName}": ${messages.join("; ")}. Nothing was created.`,
    { details: { issues } },
  );
}

export function encodeParams(params: unknown, limits: Limits): EncodedValue {
  const encoded = encodeValue(params === undefined ? {} : params, "params");
  checkBytes(encoded, limits.paramsBytesMax, "params");
  return encoded;
}

export function planSendEvent(
  ref: InstanceRef,
  event: OutgoingEvent,
  limits: Limits,
  id: string,
  now: number,
): SendEventRequest {
  const type = checkEventType(event.type, limits);
  const payload = encodeValue(event.payload, "event payload");
  checkBytes(payload, limits.eventBytesMax, "event payload");
  return { ...eventTo(ref, id, now), type, payload, bufferMax: limits.bufferedEventsMax };
}

export function planAlongsideEvent(
  ref: InstanceRef,
  event: OutgoingEvent,
  limits: Limits,
  runtime: Runtime,
): SendEventRequest {
  checkInstanceId(ref.instanceId, limits);
  return planSendEvent(ref, event, limits, event.id ?? runtime.uuid(), runtime.now());
}

/** Ends a sleep early: an event of the engine's own, addressed to it, so that no race can lose it. */
export function planSkipSleep(
  ref: InstanceRef,
  sleep: WaitingStep,
  id: string,
  now: number,
): SendEventRequest {
  return { ...eventTo(ref, id, now), forStep: sleep.key, system: true, bufferMax: Number.MAX_SAFE_INTEGER };
}

function eventTo(ref: InstanceRef, id: string, now: number): Omit<SendEventRequest, "bufferMax"> {
  return {
    kind: "sendEvent",
    workflowName: ref.workflowName,
    instanceId: ref.instanceId,
    id,
    type: null,
    forStep: null,
    system: false,
    payload: encodeValue(undefined, "event payload"),
    createdAt: now,
  };
}

export function planPause(ref: InstanceRef): ChangeRequest {
  return change(ref, ["active", "waiting"], { kind: "pause" });
}

export function planResume(ref: InstanceRef, shiftDeadlines: boolean): ChangeRequest {
  return change(ref, ["paused"], { kind: "resume", shiftDeadlines });
}

export function planTerminate(ref: InstanceRef, message: string | null): ChangeRequest {
  return change(ref, liveStatuses, { kind: "terminate", reason: { source: "user", message } });
}

export interface RestartCondition {
  readonly statuses?: readonly InstanceStatus[];
  readonly runNumber?: number;
}

export function planRestart(
  ref: InstanceRef,
  history: readonly StepRecord[],
  condition: RestartCondition = {},
): ChangeRequest {
  const request = change(ref, condition.statuses ?? everyStatus, { kind: "restart", history });
  return condition.runNumber === undefined
    ? request
    : { ...request, when: { ...request.when, runNumber: condition.runNumber } };
}

function change(
  ref: InstanceRef,
  statuses: readonly InstanceStatus[],
  what: ChangeRequest["change"],
): ChangeRequest {
  return {
    kind: "change",
    workflowName: ref.workflowName,
    instanceId: ref.instanceId,
    when: { statuses },
    change: what,
  };
}

// ------------------------------------------------------------------------------------------------ which step

/** A step as people name it. */
export type StepSelector =
  | string
  | { readonly name: string; readonly count?: number; readonly type?: StepType };

/**
 * What a run that begins at `from` keeps: settled steps with a smaller index, without those whose outermost ancestor is
 * not kept. A nested `from` means its outermost ancestor.
 */
export function historyBefore(steps: readonly StepRecord[], from: StepSelector): readonly StepRecord[] {
  const first = outermost(steps, findStep(steps, from));
  const kept = new Set<string>();
  for (const step of [...steps].sort((a, b) => a.index - b.index)) {
    const settled = step.status !== "waiting";
    const parentKept = step.parentKey === null || kept.has(step.parentKey);
    const early = outermost(steps, step).index < first.index;
    if (settled && parentKept && early) kept.add(step.key);
  }
  return steps.filter((step) => kept.has(step.key));
}

export function findStep(steps: readonly StepRecord[], selector: StepSelector): StepRecord {
  const wanted = typeof selector === "string" ? { name: selector } : selector;
  const { name, count, type } = wanted as { name: string; count?: number; type?: StepType };
  const matching = steps.filter(
    (step) =>
      (step.name === name || step.key === name) &&
      (count === undefined || step.count === count) &&
      (type === undefined || step.type === type),
  );
  const found = matching.sort((a, b) => a.index - b.index)[0];
  if (found) return found;
  throw new EverstepError(
    "STEP_NOT_FOUND",
    `This run has no step "${name}"${count === undefined ? "" : ` #${count}`}. Use a name from its history.`,
    { details: { step: name } },
  );
}

function outermost(steps: readonly StepRecord[], step: StepRecord): StepRecord {
  let current = step;
  while (current.parentKey !== null) {
    const parentKey: string = current.parentKey;
    const parent = steps.find((other) => other.key === parentKey);
    if (!parent) return current;
    current = parent;
  }
  return current;
}

/**
 * One more try for the step that failed the run: the latest errored top-level step, if nothing completed after it and
 * no other failed beside it. What ran inside it is forgotten, the events it took are there again.
 */
export function planRetryFailedStep(
  ref: InstanceRef,
  steps: readonly StepRecord[],
  error: StoredError | null,
  delayMs: number,
  now: number,
): ChangeRequest {
  const dueAt = now + delayMs;
  if (givenUpCodes.has(error?.code ?? "")) {
    return change(ref, ["errored"], {
      kind: "retryStep",
      reopen: null,
      drop: [],
      releaseEventsOf: [],
      dueAt,
    });
  }
  const top = steps.filter((step) => step.parentKey === null);
  const failed = top.filter((step) => step.status === "errored");
  const step = failed.at(-1);
  if (
    !step ||
    failed.length > 1 ||
    top.some((other) => other.index > step.index && other.status === "completed")
  ) {
    throw new EverstepError(
      "FAILED_STEP_NOT_RETRYABLE",
      failed.length > 1
        ? "Several steps of this run failed; retry one is not possible. Use restart({ from }) instead."
        : "No failed step of this run can be retried on its own. Use restart() or restart({ from }) instead.",
    );
  }
  const inside = stepsInside(steps, step.key);
  return change(ref, ["errored"], {
    kind: "retryStep",
    reopen: reopened(step, dueAt),
    drop: inside.map((other) => other.index),
    releaseEventsOf: inside.map((other) => other.key),
    dueAt,
  });
}

/** Not the workflow failed but what ran it: such a run may go on where it was. */
const givenUpCodes: ReadonlySet<string> = new Set([
  "CRASH_LOOP",
  "HISTORY_UNREADABLE",
  "INTERRUPTED_BY_RESTART",
]);

/** Steps nested at any depth in another. Asked of their parents, because a name may look like any key. */
function stepsInside(steps: readonly StepRecord[], key: string): readonly StepRecord[] {
  const outer = new Set([key]);
  const byIndex = [...steps].sort((a, b) => a.index - b.index);
  return byIndex.filter((step) => {
    const inside = step.parentKey !== null && outer.has(step.parentKey);
    if (inside) outer.add(step.key);
    return inside;
  });
}

function reopened(step: StepRecord, dueAt: number): WaitingStep {
  const { index, key, name, count, type, parentKey, depth, createdAt, attempts, starts, timeoutMs, errors } =
    step;
  const { eventType, topic, maxAttempts } = step;
  const identity = { index, key, name, count, type, parentKey, depth, createdAt };
  const facts = { attempts, starts, timeoutMs, errors, eventType, topic };
  if (type === "do") {
    const more = maxAttempts === null ? null : attempts + 1;
    return { ...identity, ...facts, maxAttempts: more, status: "waiting", waitsFor: "retry", wakeAt: dueAt };
  }
  // A wait that timed out gets a window as long as its first one.
  const windowMs = Math.max(0, (step.wakeAt ?? createdAt) - createdAt);
  const waitsFor = type === "sleep" ? "timer" : "event";
  return { ...identity, ...facts, maxAttempts, status: "waiting", waitsFor, wakeAt: dueAt + windowMs };
}

/** The sleep a run is in, the nearest one if there are several. */
export function activeSleep(steps: readonly StepRecord[]): WaitingStep | undefined {
  return steps
    .filter((step): step is WaitingStep => step.status === "waiting" && step.type === "sleep")
    .sort((a, b) => a.wakeAt - b.wakeAt)[0];
}

// ------------------------------------------------------------------------------------------------ words

const aliases: Readonly<Record<string, InstanceStatus>> = {
  pending: "active",
  queued: "active",
  running: "active",
  enqueued: "active",
  suspended: "waiting",
  completed: "complete",
  success: "complete",
  failed: "errored",
  error: "errored",
  cancelled: "terminated",
  canceled: "terminated",
};

/** One status vocabulary; words of other engines are understood where people type them. */
export function statusFrom(word: string): InstanceStatus | undefined {
  if ((everyStatus as readonly string[]).includes(word)) return word as InstanceStatus;
  return Object.hasOwn(aliases, word) ? aliases[word] : undefined;
}

export function instanceTerminal(ref: InstanceRef, status: InstanceStatus, verb: string): EverstepError {
  return new EverstepError(
    "INSTANCE_TERMINAL",
    `Instance "${ref.instanceId}" of workflow "${ref.workflowName}" is ${status} and can no longer be ${verb}. ` +
      "Call restart() to run it again.",
    { details: { ...refOf(ref), status, terminal: isTerminal(status) } },
  );
}

export function instanceNotFound(ref: InstanceRef): EverstepError {
  return new EverstepError(
    "INSTANCE_NOT_FOUND",
    `Workflow "${ref.workflowName}" has no instance "${ref.instanceId}". Create it first, or check the id.`,
    { details: refOf(ref) },
  );
}

function refOf(ref: InstanceRef): { readonly workflowName: string; readonly instanceId: string } {
  return { workflowName: ref.workflowName, instanceId: ref.instanceId };
}
