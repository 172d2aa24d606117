/** What the compiler knows of a workflow: its params, its output, the events it takes and its name. Types only. */
import type { InferInput, InferOutput, StandardSchema } from "./standard-schema.ts";

/** The types a workflow was defined with, on `"~types"` of its definition. Nothing is there at run time. */
export interface WorkflowTypes<Params = any, Output = any, Events = any, Name extends string = string> {
  /** What `create` takes. */
  readonly params: Params;
  /** What `result` gives. */
  readonly output: Output;
  /** What `sendEvent` takes, by event type; `any` for a workflow that declares no events. */
  readonly events: Events;
  readonly name: Name;
}

/** Something that carries the types of a workflow: its definition. */
export interface TypedWorkflow<Types extends WorkflowTypes = WorkflowTypes> {
  readonly "~types"?: Types;
}

/** The types of a definition: `TypesOf<typeof order>["params"]`. */
export type TypesOf<Workflow extends TypedWorkflow> = NonNullable<Workflow["~types"]>;

/** The events a workflow takes: a schema for the payload of each event type. */
export type EventSchemas = Readonly<Record<string, StandardSchema>>;

/** What senders pass as the payload, by event type. */
export type EventInputs<Schemas extends EventSchemas> = [Schemas] extends [never]
  ? any
  : { readonly [Type in keyof Schemas]: InferInput<Schemas[Type]> };

/** What the workflow receives as the payload, by event type. */
export type EventOutputs<Schemas extends EventSchemas> = [Schemas] extends [never]
  ? any
  : { readonly [Type in keyof Schemas]: InferOutput<Schemas[Type]> };

/** The event types of `Events`: every string where none are declared. */
export type EventTypeOf<Events> = keyof Events & string;

/** Every string where no events are declared, and none where some are. */
export type UndeclaredType<Events> = string extends keyof Events ? string : never;
