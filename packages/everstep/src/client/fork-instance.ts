import { checkInstanceId } from "../authoring/names.ts";
import { planCreate } from "../engine/lifecycle.ts";
import { historyBefore } from "../engine/step-selection.ts";
import type { InstanceRef } from "../model/instance.ts";
import type { ForkOptions } from "../wire/options.ts";
import type { StoredInstance } from "./stored-instance.ts";
import { alreadyExists, isOwnCreation } from "./submit-creation.ts";

/** Gives the new instance. */
export async function forkInstance(instance: StoredInstance, options: ForkOptions): Promise<InstanceRef> {
  const { definition, parts } = instance;
  const { runtime, group, reads, runner } = parts;
  const instanceId =
    options.newId === undefined ? runtime.uuid() : checkInstanceId(options.newId, definition.limits);
  const source = await instance.read();
  const steps = await instance.steps(source.runId);
  const history = options.from === undefined ? [] : historyBefore(steps, options.from);
  const ref = { workflowName: instance.ref.workflowName, instanceId };
  const plan = { params: source.params, retentionMs: source.retentionMs ?? definition.retentionMs, history };
  const request = planCreate(ref, plan, runtime.now());
  let uncertain = false;
  const onUncertain = (): void => {
    uncertain = true;
  };
  const outcome = await group.submit(request, { onUncertain });
  const found = uncertain && outcome.kind === "exists" ? await reads.getInstance(ref, 1) : null;
  const isOwn = found ? isOwnCreation(found, request) : false;
  if (outcome.kind === "exists" && !isOwn) throw alreadyExists(ref, "Use another id, or restart that one.");
  runner.fallBehind();
  return ref;
}
