/** Changes that people make to an instance: under a key for those who may lose an answer, and with who asked for them. */

import { instanceNotFound } from "../engine/instance-words.ts";
import type { ChangePlan } from "../engine/lifecycle.ts";
import { operatorLine } from "../engine/operator-line.ts";
import { EverstepError } from "../model/error.ts";
import type { NamesOf } from "../model/known-names.ts";
import type { Runtime } from "../model/runtime.ts";
import type { ChangeOutcome, ChangeRequest } from "../store/store.ts";
import { repeatNames } from "../wire/option-names.ts";
import type { RepeatOptions } from "../wire/options.ts";
import type { AppParts } from "./app-parts.ts";

export interface SteeringOptions extends RepeatOptions {
  /** Who asks for it: a name or an address. The log of the run says what was done and by whom, in the category `operator`. */
  readonly actor?: string | undefined;
}

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
 * This was done before under the same key: for what reads before it decides, or what a repeat must not be followed by. Asked
 * with a condition that nothing fits, so that it is not done now.
 */
export async function isRepeat(
  plan: ChangePlan,
  options: SteeringOptions,
  parts: AppParts,
): Promise<boolean> {
  if (options.idempotencyKey === undefined) return false;
  const outcome = await change({ ...plan, when: { statuses: [] } }, options, parts);
  return outcome.kind === "changed";
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
