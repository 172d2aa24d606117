/** Deletes an instance, and only the one that is there when it is asked for, however often it is tried. */
import { EverstepError } from "../model/error.ts";
import type { WireInstanceWithMeta } from "../wire/index.ts";
import type { DeleteOptions } from "./call-options.ts";
import type { Connection } from "./connection.ts";

export async function deleteInstance(
  connection: Connection,
  segments: readonly string[],
  details: () => Promise<WireInstanceWithMeta>,
  { signal, force, createdAt }: DeleteOptions,
): Promise<void> {
  const which = createdAt ?? (await creationTime(details));
  let isUncertain = false;
  const call = {
    segments,
    isDelete: true,
    query: { force, createdAt: which },
    field: "ok",
    signal,
    // Without the time a repeat could delete an instance that was created in between.
    isOnce: which === undefined,
    onUncertain: () => {
      isUncertain = true;
    },
  };
  try {
    await connection.send(call);
  } catch (problem) {
    // An earlier try of this call got no answer, and has removed it.
    if (!isUncertain || !isNotFound(problem)) throw problem;
  }
}

/** Who may delete need not be allowed to look. */
async function creationTime(details: () => Promise<WireInstanceWithMeta>): Promise<string | undefined> {
  try {
    return (await details()).meta.createdAt;
  } catch (problem) {
    if (problem instanceof EverstepError && problem.code === "FORBIDDEN") return undefined;
    // What cannot be read can still be deleted.
    if (problem instanceof EverstepError && problem.code === "HISTORY_UNREADABLE") return undefined;
    throw problem;
  }
}

function isNotFound(problem: unknown): boolean {
  return (
    problem instanceof EverstepError &&
    // The last instance of a workflow that is no longer in the code took the workflow with it.
    (problem.code === "INSTANCE_NOT_FOUND" || problem.code === "WORKFLOW_NOT_FOUND")
  );
}
