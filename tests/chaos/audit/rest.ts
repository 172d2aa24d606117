/** When everything has ended, nothing is leased, due or open any more, and all counts agree. */
import type { App } from "everstep";
import { topics } from "../acts.ts";
import { currentRun, type Evidence, type InstanceEvidence } from "../evidence.ts";
import type { ChaosWorkflows } from "../journey.ts";

export async function auditRest(app: App<ChaosWorkflows>, evidence: Evidence): Promise<string[]> {
  const faults: string[] = [];
  for (const [workflow, instances] of [
    [app.workflows.JOURNEY, evidence.journeys],
    [app.workflows.ERRAND, evidence.errands],
  ] as const) {
    faults.push(...countFaults(workflow.name, instances, await app.counts(workflow.name)));
    for (const status of ["active", "waiting", "paused"]) {
      const { items } = await workflow.list({ status });
      faults.push(...items.map(({ id }) => `${id} is ${status}`));
    }
    const dueAt = await app.store.nextDueAt([workflow.name]);
    if (dueAt !== null) faults.push(`a ${workflow.name} is due at ${dueAt}`);
  }
  for (const topic of topics) {
    const { items } = await app.waiters(topic);
    faults.push(...items.map(({ instanceId }) => `${instanceId} still waits on "${topic}"`));
  }
  for (const { workflowName, id, runs } of [...evidence.journeys, ...evidence.errands]) {
    const record = await app.store.getInstance({ workflowName, instanceId: id });
    if (record?.executing) faults.push(`${id} is leased`);
    if (record?.dueAt != null) faults.push(`${id} is due`);
    const openRuns = runs.filter(({ status }) => !["complete", "errored", "terminated"].includes(status));
    faults.push(...openRuns.map(({ runNumber, status }) => `run ${runNumber} of ${id} is ${status}`));
  }
  return faults;
}

function countFaults(
  name: string,
  instances: readonly InstanceEvidence[],
  counts: Readonly<Record<string, number>>,
): string[] {
  return Object.entries(counts).flatMap(([status, count]) => {
    const listed = instances.filter((instance) => currentRun(instance).status === status).length;
    return listed === count ? [] : [`${count} ${name} are counted as ${status}, and ${listed} are listed`];
  });
}
