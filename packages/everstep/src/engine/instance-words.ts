/** One vocabulary for statuses, and the sentences said about instances that are over or not there. */
import { EverstepError } from "../model/error.ts";
import {
  type InstanceRef,
  type InstanceStatus,
  instanceStatuses,
  isTerminal,
  otherStatusWords,
} from "../model/instance.ts";

/** One status vocabulary; words of other engines are understood where people type them. */
export function statusFrom(word: string): InstanceStatus | undefined {
  if ((instanceStatuses as readonly string[]).includes(word)) return word as InstanceStatus;
  return Object.hasOwn(otherStatusWords, word) ? otherStatusWords[word] : undefined;
}

export function instanceTerminal(ref: InstanceRef, status: InstanceStatus, verb: string): EverstepError {
  return new EverstepError(
    "INSTANCE_TERMINAL",
    `Instance "${ref.instanceId}" of workflow "${ref.workflowName}" is ${status} and can no longer be ${verb}. ` +
      "Restart it to run it again.",
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

export function instanceNotTerminal(ref: InstanceRef, status: InstanceStatus): EverstepError {
  return new EverstepError(
    "INSTANCE_NOT_TERMINAL",
    `Instance "${ref.instanceId}" of workflow "${ref.workflowName}" is ${status}, so it was not deleted. Terminate it first, ` +
      "or delete it with force: true, which ends it as well.",
    { details: { ...refOf(ref), status } },
  );
}

/** For those who waited for what is gone. */
export function instanceDeleted(ref: InstanceRef): EverstepError {
  return new EverstepError(
    "INSTANCE_NOT_FOUND",
    `Instance "${ref.instanceId}" of workflow "${ref.workflowName}" was deleted before it ended, so it has no result.`,
    { details: refOf(ref) },
  );
}

function refOf(ref: InstanceRef): { readonly workflowName: string; readonly instanceId: string } {
  return { workflowName: ref.workflowName, instanceId: ref.instanceId };
}
