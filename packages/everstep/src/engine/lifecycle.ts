/** Plans what a person or a step asks for as requests to the store. Pure: what must be known first is handed in. Events: plan-event.ts. */
import { checkBytes, encodeValue } from "../authoring/codec.ts";
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { checkInstanceId } from "../authoring/names.ts";
import { issueText, plainIssues, type ValidationIssue } from "../authoring/standard-schema.ts";
import type { StartOptions } from "../authoring/workflow-step.ts";
import { EverstepError } from "../model/error.ts";
import {
  type InstanceInput,
  type InstanceRef,
  type InstanceStatus,
  inputNotGiven,
  instanceStatuses,
  liveStatuses,
  type RunId,
  type TerminationReason,
  terminalStatuses,
} from "../model/instance.ts";
import { defaultLimits, errorLimits, type Limits } from "../model/limits.ts";
import type { ChangeRequest, CreateRequest, DeleteRequest } from "../model/request.ts";
import type { Runtime } from "../model/runtime.ts";
import type { StepRecord } from "../model/step.ts";
import type { EncodedValue } from "../model/value.ts";
import { checkActor } from "./operator-line.ts";

export interface CreatePlan extends Partial<Omit<InstanceInput, keyof InstanceRef | "createdAt">> {
  readonly params: EncodedValue;
  readonly startAt?: number;
  readonly history?: readonly StepRecord[];
}

export function planCreate(ref: InstanceRef, plan: CreatePlan, now: number): CreateRequest {
  const { startAt = now, history = [], ...input } = plan;
  return {
    kind: "create",
    ...inputNotGiven,
    ...input,
    workflowName: ref.workflowName,
    instanceId: ref.instanceId,
    createdAt: now,
    dueAt: Math.max(startAt, now),
    history,
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
    retentionMs: definition?.retentionMs ?? null,
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

export function paramsInvalid(workflowName: string, issues: readonly ValidationIssue[]): EverstepError {
  const messages = issues.map(issueText);
  return new EverstepError(
    "WORKFLOW_PARAMS_INVALID",
    `The params do not fit workflow "${workflowName}": ${messages.join("; ")}. Nothing was created.`,
    { details: { issues: plainIssues(issues) } },
  );
}

export function encodeParams(params: unknown, limits: Limits): EncodedValue {
  const encoded = encodeValue(params === undefined ? {} : params, "params");
  checkBytes(encoded, limits.maxParamsBytes, "params");
  return encoded;
}

/** A change without the id that whoever asks for it gives it. */
export type ChangePlan = Omit<ChangeRequest, "id">;

const pausable = liveStatuses.filter((status) => status !== "paused");

export function planPause(ref: InstanceRef): ChangePlan {
  return planChange(ref, pausable, { kind: "pause" });
}

export function planResume(ref: InstanceRef, shiftDeadlines: boolean): ChangePlan {
  return planChange(ref, ["paused"], { kind: "resume", shiftDeadlines });
}

export function planTerminate(ref: InstanceRef, reason: TerminationReason): ChangePlan {
  return planChange(ref, liveStatuses, { kind: "terminate", reason });
}

/** Of the instance with this first run; one that is live only by force. */
export function planDelete(ref: InstanceRef, firstRun: RunId | undefined, force: boolean): DeleteRequest {
  const { workflowName, instanceId } = ref;
  const when = {
    ...(force ? {} : { statuses: terminalStatuses }),
    ...(firstRun === undefined ? {} : { firstRun }),
  };
  return { kind: "delete", workflowName, instanceId, when };
}

/** What a person said about ending it, and who they are, where that is known. */
export function userReason({ reason = null, actor }: UserReason): TerminationReason {
  if (reason !== null && typeof reason !== "string") {
    throw new EverstepError("INVALID_ARGUMENT", `The reason to terminate is text, not a ${typeof reason}.`);
  }
  const by = checkActor(actor);
  // Too long a reason is no reason to go on.
  const message = reason?.slice(0, errorLimits.messageMax) ?? null;
  return { source: "user", message, ...(by === undefined ? {} : { by }) };
}

export interface UserReason {
  readonly reason?: string | null | undefined;
  /** Who asks for it: a name or an address, shown to people. */
  readonly actor?: string | undefined;
}

export interface RestartCondition {
  readonly statuses?: readonly InstanceStatus[];
  readonly runNumber?: number;
}

export function planRestart(
  ref: InstanceRef,
  history: readonly StepRecord[],
  condition: RestartCondition = {},
): ChangePlan {
  const request = planChange(ref, condition.statuses ?? instanceStatuses, { kind: "restart", history });
  return condition.runNumber === undefined
    ? request
    : { ...request, when: { ...request.when, runNumber: condition.runNumber } };
}

export function planChange(
  ref: InstanceRef,
  statuses: readonly InstanceStatus[],
  what: ChangeRequest["change"],
): ChangePlan {
  return {
    kind: "change",
    workflowName: ref.workflowName,
    instanceId: ref.instanceId,
    when: { statuses },
    change: what,
  };
}
