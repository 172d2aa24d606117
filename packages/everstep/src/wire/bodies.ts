/** What requests bring along. */
import { type StepSelector, stepTypes } from "../model/step.ts";
import { instanceStatus } from "./instances.ts";
import {
  anything,
  either,
  type Infer,
  instant,
  list,
  object,
  oneOf,
  optional,
  type Schema,
  text,
  whole,
} from "./schema.ts";

const time = either(instant, whole());
const duration = either(text({ max: 64 }), whole());

/** A step as people name it: its name, or more of it where one name is used several times. */
export type WireStepSelector = StepSelector;

const selector: Schema<WireStepSelector> = either(
  text(),
  object({ name: text(), count: optional(whole(1)), type: optional(oneOf(stepTypes)) }),
);

const creation = {
  params: optional(anything),
  /** Not before this time. */
  startAt: optional(time),
  /** The instance is ended at this time if it has not ended by itself. */
  deadline: optional(time),
  /** How long it is kept after it ended; for ever unless said. */
  retention: optional(duration),
} as const;

const creationShape = object(creation);
/** What an instance begins with. */
export interface CreationBody extends Infer<typeof creationShape> {}

export const createBody = object({
  id: optional(text()),
  ...creation,
  ifExists: optional(oneOf(["error", "return"])),
});
export interface CreateBody extends Infer<typeof createBody> {}

const batchEntryShape = object({ id: text(), ...creation });
export interface BatchEntryBody extends Infer<typeof batchEntryShape> {}
const batchEntry: Schema<BatchEntryBody> = batchEntryShape;

export const createBatchBody = object({ instances: list(batchEntry) });
export interface CreateBatchBody extends Infer<typeof createBatchBody> {}

export const nothing = object({});

export const terminateBody = object({ reason: optional(text()) });

export const restartBody = object({ from: optional(selector) });
export interface RestartBody extends Infer<typeof restartBody> {}

export const rewindBody = object({ step: selector });

export const forkBody = object({ from: optional(selector), newId: optional(text()) });
export interface ForkBody extends Infer<typeof forkBody> {}

export const retryBody = object({ delay: optional(duration) });

const conditionShape = object({
  statuses: optional(list(instanceStatus)),
  runNumber: optional(whole(1)),
});
export interface WireRestartCondition extends Infer<typeof conditionShape> {}
const condition: Schema<WireRestartCondition> = conditionShape;

export const restartOrCreateBody = object({ ...creation, when: optional(condition) });
export interface RestartOrCreateBody extends Infer<typeof restartOrCreateBody> {}

export const sendEventBody = object({
  type: text(),
  payload: optional(anything),
  /** Sending it again with the same key has no further effect. */
  idempotencyKey: optional(text()),
});
export interface SendEventBody extends Infer<typeof sendEventBody> {}

export const publishBody = object({ payload: optional(anything), idempotencyKey: optional(text()) });
export interface PublishBody extends Infer<typeof publishBody> {}

export const tickBody = object({
  maxInstances: optional(whole(1)),
  maxSteps: optional(whole(1)),
});
export interface TickBody extends Infer<typeof tickBody> {}
