/** Removes an instance with everything recorded of it. */
import { instanceNotFound, instanceNotTerminal } from "../engine/instance-words.ts";
import { planDelete } from "../engine/lifecycle.ts";
import { EverstepError } from "../model/error.ts";
import type { InstanceRecord } from "../model/instance.ts";
import type { DeleteOptions } from "../wire/options.ts";
import type { StoredInstance } from "./stored-instance.ts";

export async function deleteInstance(instance: StoredInstance, options: DeleteOptions<Date>): Promise<void> {
  const { ref, parts } = instance;
  const { force = false, createdAt } = checkOptions(options);
  const first = await readFirstRun(instance);
  if (createdAt !== undefined && first?.createdAt !== createdAt.getTime()) throw instanceNotFound(ref);
  let isUncertain = false;
  const outcome = await parts.group.submit(planDelete(ref, first?.runId, force), {
    onUncertain: () => {
      isUncertain = true;
    },
  });
  if (outcome.kind === "refused") throw instanceNotTerminal(ref, outcome.status);
  // A try whose answer was lost has removed it: nothing else could say so any more.
  if (outcome.kind === "not-found" && !isUncertain) throw instanceNotFound(ref);
  if (outcome.kind === "deleted") parts.runner.recall(outcome.runId, "The instance was deleted.");
  parts.endings.deleted(ref);
}

/** The first run names the instance for good: a repeat must not delete one that was created in between. */
async function readFirstRun(instance: StoredInstance): Promise<InstanceRecord | undefined> {
  try {
    await instance.parts.ready();
    const record = await instance.parts.reads.getInstance(instance.ref, 1);
    if (record === undefined) throw instanceNotFound(instance.ref);
    return record;
  } catch (problem) {
    // What cannot be read can still be deleted.
    if (problem instanceof EverstepError && problem.code === "HISTORY_UNREADABLE") return undefined;
    throw problem;
  }
}

function checkOptions(options: DeleteOptions<Date>): DeleteOptions<Date> {
  const { force, createdAt } = options;
  if (force !== undefined && typeof force !== "boolean") {
    throw new EverstepError("INVALID_ARGUMENT", `force is true or false, not a ${typeof force}.`);
  }
  if (createdAt !== undefined && !(createdAt instanceof Date && !Number.isNaN(createdAt.getTime()))) {
    throw new EverstepError(
      "INVALID_ARGUMENT",
      "createdAt is a Date: the one that the instance was created at.",
    );
  }
  return options;
}
