import { isTerminal } from "../../model/instance.ts";
import type { PruneRequest } from "../../store/store.ts";
import type { MemoryDatabase } from "./database.ts";
import type { Instance } from "./run.ts";
import { currentRun } from "./run.ts";

/** Removes whole instances that are over, longest out of retention first; gives how many. */
export function prune(database: MemoryDatabase, request: PruneRequest): number {
  const { before, limit, publicationsBefore } = request;
  if (publicationsBefore !== undefined) forgetPublications(database, publicationsBefore);
  const over: { readonly instance: Instance; readonly until: number }[] = [];
  for (const workflow of database.workflows.values()) {
    for (const instance of workflow.instances.values()) {
      const { status, pruneAt } = currentRun(instance).row;
      if (isTerminal(status) && pruneAt !== null && pruneAt <= before) {
        over.push({ instance, until: pruneAt });
      }
    }
  }
  const chosen = over.sort((a, b) => a.until - b.until).slice(0, limit);
  for (const { instance } of chosen) database.removeInstance(instance);
  return chosen.length;
}

function forgetPublications(database: MemoryDatabase, before: number): void {
  for (const [id, { createdAt }] of database.publications)
    if (createdAt < before) database.publications.delete(id);
}
