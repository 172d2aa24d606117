/** Workflows that are no longer in the code, but whose instances are in the store: to be looked at, paused and ended. */
import { defineWorkflow } from "../../authoring/define-workflow.ts";
import { hooksWorkflowName } from "../../client/lifecycle-hooks.ts";
import { LocalWorkflowHandle } from "../../client/workflow-handle.ts";
import type { InstanceHandle } from "../../handles/instance-handle.ts";
import type { WorkflowHandle } from "../../handles/workflow-handle.ts";
import { EverstepError } from "../../model/error.ts";
import type { Call } from "../route.ts";
import { workflowOf } from "./shared.ts";

type Named = Pick<Call, "app" | "parts" | "path">;

export async function storedWorkflowOf(call: Named): Promise<WorkflowHandle> {
  try {
    return workflowOf(call);
  } catch (problem) {
    if (!(problem instanceof EverstepError) || !(await isStored(call))) throw problem;
    return new LocalWorkflowHandle(withoutCode(call.path.workflowName), call.parts);
  }
}

export async function storedInstanceOf(call: Named): Promise<InstanceHandle> {
  return (await storedWorkflowOf(call)).at(call.path.instanceId);
}

async function isStored({ app, path: { workflowName } }: Named): Promise<boolean> {
  if (workflowName === hooksWorkflowName) return false;
  const counts = await app.counts(workflowName);
  return Object.values(counts).some((count) => count > 0);
}

/** Nothing runs it: no runner has it. */
function withoutCode(name: string) {
  return defineWorkflow({ name }, () => {
    throw new EverstepError("WORKFLOW_NOT_FOUND", `There is no code of workflow "${name}" here.`);
  });
}
