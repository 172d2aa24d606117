/** The events that a workflow declares: what may be sent to its instances and waited for, and what a payload must be. */
import { EverstepError } from "../model/error.ts";
import { nearest } from "../model/nearest.ts";
import type { WorkflowDefinition } from "./define-workflow.ts";
import {
  issueText,
  plainIssues,
  type StandardSchema,
  type ValidationIssue,
  validateWith,
} from "./standard-schema.ts";

type Declaring = Pick<WorkflowDefinition, "name" | "options">;

/** The schema of an event type; none where the workflow declares no events. A type that is not among them is refused. */
export function eventSchema(
  type: string,
  { name, options: { events } }: Declaring,
): StandardSchema | undefined {
  if (events === undefined) return undefined;
  if (Object.hasOwn(events, type)) return events[type];
  const declared = Object.keys(events);
  const near = nearest(type, declared);
  const advice = near === undefined ? "" : ` Did you mean "${near}"?`;
  const list = declared.length === 0 ? "no events" : declared.map((known) => `"${known}"`).join(", ");
  throw new EverstepError(
    "UNKNOWN_EVENT_TYPE",
    `Workflow "${name}" has no event type "${type}".${advice} It declares ${list}; add it to events, or use one of them.`,
    { details: { type, declared, ...(near === undefined ? {} : { nearest: near }) } },
  );
}

/** What the schema makes of a payload. A payload that does not fit is refused. */
export async function checkedPayload(
  schema: StandardSchema,
  type: string,
  payload: unknown,
  { name }: Declaring,
): Promise<unknown> {
  const checked = await validateWith(schema, payload);
  if ("value" in checked) return checked.value;
  throw payloadInvalid(name, type, checked.issues);
}

/** The same for a body, which sends without waiting: the schema must be able to answer at once. */
export function checkedPayloadNow(type: string, payload: unknown, definition: Declaring): unknown {
  const schema = eventSchema(type, definition);
  if (schema === undefined) return payload;
  const checked = schema["~standard"].validate(payload);
  if (checked instanceof Promise) {
    checked.catch(() => {});
    throw new EverstepError(
      "INVALID_ARGUMENT",
      `The payload of event "${type}" of workflow "${definition.name}" is checked asynchronously, which sendEvent of a step ` +
        "cannot wait for. Make its schema synchronous, or send the event with the instance's handle.",
    );
  }
  if (checked.issues) throw payloadInvalid(definition.name, type, checked.issues);
  return checked.value;
}

function payloadInvalid(
  workflowName: string,
  type: string,
  issues: readonly ValidationIssue[],
): EverstepError {
  return new EverstepError(
    "EVENT_PAYLOAD_INVALID",
    `The payload does not fit event "${type}" of workflow "${workflowName}": ${issues.map(issueText).join("; ")}. ` +
      "Nothing was sent.",
    { details: { type, issues: plainIssues(issues) } },
  );
}
