import type { WireInstancesWithMeta } from "everstep/client";
import { links } from "../links.ts";

/** Where to go with what was found of ids that begin so: at most two were asked for. */
export function foundLink(id: string, { instances, hasNextPage }: WireInstancesWithMeta): string {
  const [only, other] = instances;
  if (!only || other || hasNextPage) return links.instances({ id });
  return links.instance({ workflowName: only.meta.workflowName, instanceId: only.id });
}
