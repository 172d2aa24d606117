/** Nodes of a cluster that takes writes everywhere have the same instances, whichever one is asked. */
import { type App, createWorkflows } from "everstep";
import { type Evidence, readInstances } from "../evidence.ts";
import { type ChaosWorkflows, chaosWorkflows } from "../journey.ts";
import { noLedger } from "../ledger.ts";
import { openStore } from "../open-store.ts";
import type { Site } from "../site.ts";

type Instances = Pick<Evidence, "journeys" | "errands">;

/** The evidence is of the first node. */
export async function auditNodes(
  { kind, otherNodes }: Pick<Site, "kind" | "otherNodes">,
  evidence: Instances,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [n, address] of otherNodes.entries()) {
    const store = await openStore(kind, address);
    const app = createWorkflows({ workflows: chaosWorkflows(noLedger), store }) as App<ChaosWorkflows>;
    try {
      found.push(...differences(namesOf(evidence), namesOf(await readInstances(app)), n + 1));
    } finally {
      await app.stop();
    }
  }
  return found;
}

export function differences(
  first: ReadonlySet<string>,
  other: ReadonlySet<string>,
  node: number,
): readonly string[] {
  const missing = [...first].filter((name) => !other.has(name));
  const more = [...other].filter((name) => !first.has(name));
  return [
    ...missing.map((name) => `${name} is on node 0 and not on node ${node}`),
    ...more.map((name) => `${name} is on node ${node} and not on node 0`),
  ];
}

function namesOf({ journeys, errands }: Instances): ReadonlySet<string> {
  return new Set([...journeys, ...errands].map(({ workflowName, id }) => `${workflowName}/${id}`));
}
