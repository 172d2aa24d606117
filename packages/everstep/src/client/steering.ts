/** Changes that people make to an instance: under a key for those who may lose an answer, and with who asked for them. */

import { instanceNotFound } from "../engine/instance-words.ts";
import type { ChangePlan } from "../engine/lifecycle.ts";
import { operatorLine } from "../engine/operator-line.ts";
import type { SteeringOptions } from "../handles/options.ts";
import { EverstepError } from "../model/error.ts";
import type { NamesOf } from "../model/known-names.ts";
import type { Runtime } from "../model/runtime.ts";
import type { ChangeOutcome, ChangeRequest } from "../store/store.ts";
import { repeatNames } from "../wire/option-names.ts";
import type { AppParts } from "./app-parts.ts";

export const steeringNames: NamesOf<SteeringOptions> = { ...repeatNames, actor: true };

/** Made at most once under a key: a repeat is answered as the first was, whatever has become of the instance since. */
export async function change(
  plan: ChangePlan,
  options: SteeringOptions,
  { ready, runtime, group }: AppParts,
): Promise<Exclude<ChangeOutcome, { kind: "not-found" }>> {
  await ready();
  const outcome = await group.submit(changeRequest(plan, options, runtime));
  if (outcome.kind === "not-found") throw instanceNotFound(plan);
  return outcome;
}

/**
 * For what is planned from what is read: a repeat may find an instance that the plan does not fit any more, and is answered all
 * the same. So what a plan fails with counts only if nothing was done before under the same key. That is asked with a condition
 * that nothing fits, so that it is not done now; where the plan is made, the change itself finds out.
 */
export async function unlessRepeat<Plan>(
  asked: ChangePlan,
  options: SteeringOptions,
  parts: AppParts,
  plan: () => Promise<Plan>,
): Promise<Plan | "repeat"> {
  try {
    return await plan();
  } catch (problem) {
    if (options.idempotencyKey === undefined) throw problem;
    const outcome = await change({ ...asked, when: { statuses: [] } }, options, parts);
    if (outcome.kind === "changed") return "repeat";
    throw problem;
  }
}

export function changeRequest(
  plan: ChangePlan,
  { idempotencyKey, actor }: SteeringOptions,
  runtime: Runtime,
): ChangeRequest {
  const { kind } = plan.change;
  // With what is done: a key that was used for something else means nothing here.
  const id = idempotencyKey === undefined ? runtime.uuid() : `${kind}:${checkIdempotencyKey(idempotencyKey)}`;
  return { ...plan, id, logs: [operatorLine(kind, actor, runtime.now())] };
}

export function checkIdempotencyKey(key: unknown): string {
  if (typeof key === "string" && /^[\x21-\x7e]{1,200}$/.test(key)) return key;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    "An idempotencyKey is 1 to 200 visible ASCII characters, for instance a UUID.",
  );
}
