import { instanceTerminal } from "../engine/instance-words.ts";
import { planPause, planResume } from "../engine/lifecycle.ts";
import type { SteeringOptions } from "../handles/options.ts";
import { isTerminal } from "../model/instance.ts";
import { change } from "./steering.ts";
import type { StoredInstance } from "./stored-instance.ts";

export async function pauseInstance({ ref, parts }: StoredInstance, options: SteeringOptions): Promise<void> {
  const outcome = await change(planPause(ref), options, parts);
  if (outcome.kind === "refused" && isTerminal(outcome.status)) {
    throw instanceTerminal(ref, outcome.status, "paused");
  }
  if (outcome.kind === "changed") parts.runner.paused(outcome.runId);
}

export async function resumeInstance(
  { ref, definition, parts }: StoredInstance,
  options: SteeringOptions,
): Promise<void> {
  const outcome = await change(planResume(ref, definition.mode === "cloudflare"), options, parts);
  if (outcome.kind === "changed") parts.runner.resumed(outcome.runId);
}
