/** The workflows of an app, checked when it is made, by the name that the store knows each by. */
import { type LimitOptions, limitsFrom, requireLegal } from "../authoring/check-limits.ts";
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { stepOptionsOf } from "../engine/step-options.ts";
import { EverstepError } from "../model/error.ts";
import { defaultLimits, type Limits } from "../model/limits.ts";
import type { WorkflowManifest } from "../wire/index.ts";

/** Of the app: for what belongs to no workflow, and for workflows that have none of their own. */
export function limitsOf(given: LimitOptions | undefined): Limits {
  return limitsFrom(given, defaultLimits, "limits", "INVALID_ARGUMENT");
}

export function registerWorkflows(
  workflows: Record<string, WorkflowDefinition>,
  limits: Limits,
  appLimits: LimitOptions | undefined,
): Map<string, WorkflowDefinition> {
  if (typeof workflows !== "object" || workflows === null) {
    throw new EverstepError("INVALID_ARGUMENT", "createWorkflows needs workflows: { ORDER: order }.");
  }
  const definitions = new Map<string, WorkflowDefinition>();
  for (const [key, definition] of Object.entries(workflows)) {
    if (typeof definition?.run !== "function") {
      throw new EverstepError(
        "INVALID_WORKFLOW_DEFINITION",
        `workflows.${key} is not a workflow. Make it with defineWorkflow.`,
      );
    }
    if (definitions.has(definition.name)) {
      throw new EverstepError(
        "DUPLICATE_WORKFLOW_NAME",
        `Two workflows are named "${definition.name}". Names scope instance ids; give each its own.`,
      );
    }
    // A mistake in its defaults is told here, not when its first instance runs.
    stepOptionsOf(definition);
    const what = `limits of workflow "${definition.name}"`;
    const own = limitsFrom(definition.options.limits, limits, what, "INVALID_ARGUMENT");
    requireLegal(appLimits ? own : definition.limits, what, "INVALID_ARGUMENT");
    definitions.set(definition.name, appLimits ? { ...definition, limits: own } : definition);
  }
  return definitions;
}

export function manifestOf(
  workflows: Record<string, WorkflowDefinition>,
  definitions: ReadonlyMap<string, WorkflowDefinition>,
): readonly WorkflowManifest[] {
  return Object.entries(workflows).map(([key, { name, options, limits }]) => ({
    key,
    name,
    checksParams: options.params !== undefined,
    checksOutput: options.output !== undefined,
    concurrency: options.concurrency ?? null,
    limits: definitions.get(name)?.limits ?? limits,
  }));
}
