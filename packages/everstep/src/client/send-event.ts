/** Events to one instance, and the end of a sleep, which is one too. */

import { checkedPayload, eventSchema } from "../authoring/declared-events.ts";
import { checkEventType } from "../authoring/names.ts";
import type { OutgoingEvent } from "../authoring/workflow-step.ts";
import { instanceNotFound } from "../engine/instance-words.ts";
import { operatorLine } from "../engine/operator-line.ts";
import { planSendEvent, planSkipSleep } from "../engine/plan-event.ts";
import { activeSleep } from "../engine/step-selection.ts";
import type { SteeringOptions, WithinOptions } from "../handles/options.ts";
import { EverstepError } from "../model/error.ts";
import { isTerminal, type RunId } from "../model/instance.ts";
import { checkNames } from "../model/known-names.ts";
import type { SendEventOutcome, SendEventRequest } from "../model/request.ts";
import { eventNames } from "../wire/option-names.ts";
import type { AppParts } from "./app-parts.ts";
import { snapshotOf } from "./snapshot.ts";
import { checkIdempotencyKey } from "./steering.ts";
import type { StoredInstance } from "./stored-instance.ts";
import { transactionOf, writeWithin } from "./within-transaction.ts";

export async function sendEvent(
  instance: StoredInstance,
  event: OutgoingEvent,
  within: WithinOptions,
): Promise<void> {
  const { ref, parts, definition } = instance;
  const { runtime, group } = parts;
  const tx = transactionOf(within);
  if (typeof event !== "object" || event === null) {
    throw new EverstepError(
      "INVALID_EVENT_TYPE",
      'sendEvent takes { type, payload? }, for instance { type: "approved" }.',
    );
  }
  if (definition.mode !== "cloudflare") checkNames(event, eventNames, "An event");
  const planned = await plannedEvent(instance, event);
  await parts.ready(tx);
  // Only now is it known what time it is.
  const request = { ...planned, createdAt: runtime.now() };
  // After a lost answer a duplicate may be this very event, which the run of then has got.
  let uncertain = false;
  const onUncertain = (): void => {
    uncertain = true;
  };
  const [outcome] =
    tx === undefined
      ? [await group.submit(request, { onUncertain })]
      : await writeWithin(tx, [request], parts);
  if (outcome === undefined) throw new EverstepError("STORE_FAILED", "The store gave no outcome.");
  switch (outcome.kind) {
    case "accepted":
      if (outcome.duplicate && !uncertain) await refuseOfEarlierRun(instance, request.id, outcome.runId);
      if (tx === undefined) tell(outcome, parts);
      return;
    case "not-found":
      throw instanceNotFound(ref);
    case "terminal":
      throw new EverstepError(
        "INSTANCE_TERMINAL",
        `Instance "${ref.instanceId}" is ${outcome.status} and takes no more events. Restart it first, or create another.`,
      );
    case "buffer-full":
      throw new EverstepError(
        "EVENT_BUFFER_FULL",
        `Instance "${ref.instanceId}" already holds ${request.bufferMax} events it has not taken, which is the most for an event ` +
          "of this size. Send fewer or smaller ones, or raise limits.maxBufferedEvents and limits.maxBufferedBytes.",
      );
  }
}

/** Taken down at the call: only a schema may take time, and it gets a copy. */
function plannedEvent(
  { ref, parts, definition }: StoredInstance,
  { type, payload, idempotencyKey }: OutgoingEvent,
): SendEventRequest | Promise<SendEventRequest> {
  const { runtime } = parts;
  const { limits } = definition;
  const key = idempotencyKey ?? runtime.uuid();
  const plan = (stored: unknown): SendEventRequest =>
    planSendEvent(ref, { type, payload: stored }, limits, key, runtime.now());
  const schema = eventSchema(checkEventType(type, limits), definition);
  if (schema === undefined) return plan(payload);
  return checkedPayload(schema, type, snapshotOf(payload), definition).then(plan);
}

/** A key is used up for good: a caller that sends the same approval to the next run must learn that it was not sent. */
async function refuseOfEarlierRun(instance: StoredInstance, key: string, runId: RunId): Promise<void> {
  if ((await instance.read()).runId === runId) return;
  throw new EverstepError(
    "IDEMPOTENCY_KEY_CONFLICT",
    `The idempotencyKey "${key}" was used for an earlier run of instance "${instance.ref.instanceId}", before it was ` +
      "restarted. Nothing was sent; send it to this run with another key.",
    { details: { idempotencyKey: key } },
  );
}

export async function skipSleep(
  instance: StoredInstance,
  { idempotencyKey, actor }: SteeringOptions,
): Promise<void> {
  const { ref, parts } = instance;
  const { runtime, group } = parts;
  const record = await instance.read();
  if (isTerminal(record.status)) return;
  const sleep = activeSleep(await instance.steps(record.runId, { brief: true }));
  if (!sleep) return;
  // Ids of events are unique over all instances, keys of callers need not be.
  const id =
    idempotencyKey === undefined
      ? runtime.uuid()
      : `skip-sleep:${ref.workflowName}/${ref.instanceId}:${checkIdempotencyKey(idempotencyKey)}`;
  const plan = planSkipSleep(ref, sleep, id, runtime.now());
  tell(await group.submit({ ...plan, logs: [operatorLine("skipSleep", actor, runtime.now())] }), parts);
}

function tell(outcome: SendEventOutcome, { runner }: AppParts): void {
  if (outcome.kind !== "accepted") return;
  if (outcome.woke) runner.nudge();
  else runner.nudgeRun(outcome.runId);
}
