import { checkBytes, encodeValue } from "../authoring/codec.ts";
import { checkTopic } from "../authoring/names.ts";
import { checkEventKey } from "../engine/plan-event.ts";
import { checkNames } from "../model/known-names.ts";
import { publishNames } from "../wire/option-names.ts";
import type { PublishOptions } from "../wire/options.ts";
import type { AppParts } from "./app-parts.ts";

/** One event for every instance that waits on the topic now. */
export async function publish(
  topic: string,
  payload: unknown,
  options: PublishOptions,
  { limits, runtime, group, runner, ready }: AppParts,
): Promise<{ readonly waiters: number }> {
  checkTopic(topic, limits);
  checkNames(options, publishNames, "publish");
  const encoded = encodeValue(payload, "payload");
  checkBytes(encoded, limits.maxEventBytes, "payload");
  const id = checkEventKey(options.idempotencyKey ?? runtime.uuid());
  await ready();
  const createdAt = runtime.now();
  const outcome = await group.submit({ kind: "publish", id, topic, payload: encoded, createdAt });
  for (const runId of outcome.runIds) runner.nudgeRun(runId);
  if (outcome.waiters > 0) runner.nudge();
  return { waiters: outcome.waiters };
}
