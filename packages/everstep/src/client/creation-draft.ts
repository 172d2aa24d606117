/**
 * What `create` was asked for, taken down at the call: whatever the caller does with its objects afterwards is not stored.
 * Only a schema may take time, and it gets a copy.
 */
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { parseDuration } from "../authoring/duration.ts";
import { checkInstanceId, checkWorkflowName } from "../authoring/names.ts";
import { validateWith } from "../authoring/standard-schema.ts";
import { type CreatePlan, encodeParams, paramsInvalid } from "../engine/lifecycle.ts";
import type { CreateOptions } from "../handles/options.ts";
import { EverstepError } from "../model/error.ts";
import type { InstanceRef } from "../model/instance.ts";
import { checkNames, checkWord, type NamesOf } from "../model/known-names.ts";
import { type Limits, timeMax } from "../model/limits.ts";
import { readOptions } from "../model/read-options.ts";
import type { EncodedValue } from "../model/value.ts";
import { snapshotOf } from "./snapshot.ts";

export const createNames: NamesOf<CreateOptions> = {
  id: true,
  params: true,
  ifExists: true,
  startAt: true,
  deadline: true,
  retention: true,
  parent: true,
};

export interface CreationDraft {
  readonly ref: InstanceRef;
  readonly plan: Omit<CreatePlan, "params">;
  /** Encoded already, or what is left to do: to ask the schema. */
  readonly params: EncodedValue | (() => Promise<EncodedValue>);
}

export function draftCreation(
  options: CreateOptions,
  definition: WorkflowDefinition,
  uuid: () => string,
  names: Readonly<Record<string, true>> = createNames,
): CreationDraft {
  return readOptions("What create was given", "INVALID_ARGUMENT", () =>
    draft(options, definition, uuid, names),
  );
}

function draft(
  options: CreateOptions,
  definition: WorkflowDefinition,
  uuid: () => string,
  names: Readonly<Record<string, true>>,
): CreationDraft {
  const { limits, retentionMs } = definition;
  if (typeof options !== "object" || options === null) {
    throw new EverstepError("INVALID_ARGUMENT", "create takes { id?, params? }.");
  }
  checkNames(options, names, "create");
  if (options.ifExists !== undefined) checkWord(options.ifExists, ["error", "return"], "ifExists");
  const instanceId = options.id === undefined ? uuid() : checkInstanceId(options.id, limits);
  const startAt = timeOf(options.startAt, "startAt");
  return {
    ref: { workflowName: definition.name, instanceId },
    plan: {
      ...(startAt === null ? {} : { startAt }),
      deadlineAt: timeOf(options.deadline, "deadline"),
      retentionMs:
        options.retention === undefined ? retentionMs : parseDuration(options.retention, "retention"),
      parent: parentOf(options.parent, limits),
    },
    params: paramsOf(options.params, definition),
  };
}

function paramsOf(params: unknown, definition: WorkflowDefinition): CreationDraft["params"] {
  const { name, limits, options } = definition;
  const schema = options.params;
  if (!schema) return encodeParams(params, limits);
  const copy = snapshotOf(params === undefined ? {} : params);
  return async () => {
    const checked = await validateWith(schema, copy);
    if ("value" in checked) return encodeParams(checked.value, limits);
    throw paramsInvalid(name, checked.issues);
  };
}

function parentOf(parent: CreateOptions["parent"], limits: Limits): InstanceRef | null {
  if (parent === undefined || parent === null) return null;
  return {
    workflowName: checkWorkflowName(parent.workflowName, limits),
    instanceId: checkInstanceId(parent.instanceId, limits),
  };
}

function timeOf(value: Date | number | undefined, what: string): number | null {
  if (value === undefined) return null;
  const time = value instanceof Date ? value.getTime() : value;
  if (typeof time === "number" && Math.abs(time) <= timeMax) return Math.ceil(time);
  throw new EverstepError("INVALID_ARGUMENT", `${what} must be a valid Date or its epoch milliseconds.`);
}
