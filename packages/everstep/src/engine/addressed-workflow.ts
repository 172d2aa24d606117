import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { checkWorkflowName } from "../authoring/names.ts";
import { EverstepError } from "../model/error.ts";
import type { Limits } from "../model/limits.ts";
import type { WorkflowAddress } from "./step-context.ts";
import type { TurnHost } from "./turn-host.ts";

/**
 * The workflow a step means. A name that nobody here knows is taken for a mistake: its instances would wait for ever. Who means
 * a workflow of another app says so by its definition, or by an object with its name.
 */
export function addressed(
  workflow: WorkflowAddress,
  limits: Limits,
  host: Pick<TurnHost, "definitionOf">,
): { readonly name: string; readonly definition: WorkflowDefinition | undefined } {
  const isText = typeof workflow === "string";
  const given: unknown = isText ? workflow : workflow?.name;
  const definition =
    (typeof given === "string" ? host.definitionOf(given) : undefined) ??
    (isDefinition(workflow) ? workflow : undefined);
  const name = definition === undefined ? checkWorkflowName(given, limits) : (given as string);
  if (definition === undefined && isText) {
    throw new EverstepError(
      "WORKFLOW_NOT_FOUND",
      `This app has no workflow "${name}". If another app on this store has it, pass its definition, or { name: "${name}" }.`,
      { details: { workflowName: name } },
    );
  }
  return { name, definition };
}

/** Of another app, which this process does not run: what it declares holds all the same. */
function isDefinition(workflow: WorkflowAddress): workflow is WorkflowDefinition {
  const { run, options } = Object(workflow) as Partial<WorkflowDefinition>;
  return typeof run === "function" && typeof options === "object" && options !== null;
}
