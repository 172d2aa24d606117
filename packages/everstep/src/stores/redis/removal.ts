import type { InstanceRef } from "../../model/instance.ts";
import type { PruneRequest } from "../../store/store.ts";
import { Arguments } from "./arguments.ts";
import { integer, list } from "./reply.ts";
import { forgetPublicationsScript, pruneScript, removeScript } from "./scripts/index.ts";
import type { Session } from "./session.ts";

// Redis does nothing else while a script runs.
const instancesPerScript = 50;
const publicationsPerScript = 1000;

export async function prune(session: Session, request: PruneRequest): Promise<number> {
  const { before, limit, publicationsBefore } = request;
  if (publicationsBefore !== undefined) await forgetPublications(session, publicationsBefore);
  let removed = 0;
  while (removed < limit) {
    const slice = Math.min(instancesPerScript, limit - removed);
    const reply = list(await session.run(pruneScript, [String(before), String(slice)], "writing"));
    const [seen, gone] = reply.map((count) => integer(count)) as [number, number];
    removed += gone;
    if (seen < slice) break;
  }
  return removed;
}

async function forgetPublications(session: Session, before: number): Promise<void> {
  const args = [String(before), String(publicationsPerScript)];
  let forgotten = publicationsPerScript;
  while (forgotten === publicationsPerScript) {
    forgotten = integer(await session.run(forgetPublicationsScript, args, "writing"));
  }
}

export async function remove(session: Session, { workflowName, instanceId }: InstanceRef): Promise<boolean> {
  const args = new Arguments().add(workflowName, instanceId);
  return integer(await session.run(removeScript, args.list, "writing")) === 1;
}
