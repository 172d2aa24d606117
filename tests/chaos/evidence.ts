/** Everything there is to judge a run by: what the records say, what the ledger saw, what clients were told. */
import type { App, EventView, InstanceStatus, InstanceView, StepView, WorkflowHandle } from "everstep";
import type { ChaosWorkflows } from "./journey.ts";
import type { LedgerLine } from "./ledger.ts";
import type { Loss } from "./losses.ts";
import type { Receipts } from "./receipts.ts";

export interface RunEvidence {
  readonly runNumber: number;
  readonly status: InstanceStatus;
  readonly output: unknown;
  readonly errorMessage: string | null;
  readonly terminationMessage: string | null;
  readonly steps: readonly StepView[];
  readonly events: readonly EventView[];
}

export interface InstanceEvidence {
  readonly workflowName: string;
  readonly id: string;
  readonly params: unknown;
  /** Oldest first; the last one is the current one. */
  readonly runs: readonly RunEvidence[];
}

export interface ProcessEvidence {
  readonly pid: number;
  readonly fate: string;
  readonly endedAt: number;
  /** When its event loop was last seen to run. */
  readonly lastBeatAt: number;
  readonly freezes: readonly { readonly from: number; readonly to: number }[];
  readonly lastWords: string;
}

export interface Evidence {
  readonly journeys: readonly InstanceEvidence[];
  readonly errands: readonly InstanceEvidence[];
  readonly ledger: readonly LedgerLine[];
  readonly processes: readonly ProcessEvidence[];
  readonly receipts: Receipts;
  readonly losses: readonly Loss[];
  readonly leaseMs: number;
}

/** Where a body belongs: workflow/instance/run, as its ledger lines name it. */
export function runName(instance: InstanceEvidence, run: RunEvidence): string {
  return `${instance.workflowName}/${instance.id}/${run.runNumber}`;
}

export function currentRun(instance: InstanceEvidence): RunEvidence {
  return instance.runs.at(-1) as RunEvidence;
}

export async function readInstances(
  app: App<ChaosWorkflows>,
): Promise<Pick<Evidence, "journeys" | "errands">> {
  const { JOURNEY, ERRAND } = app.workflows;
  return { journeys: await readAll(JOURNEY), errands: await readAll(ERRAND) };
}

/** So many are read at once: each of them is a few questions, and their answers take their time. */
const readAtOnce = 10;

async function readAll(workflow: WorkflowHandle): Promise<InstanceEvidence[]> {
  const views: InstanceView[] = [];
  for await (const view of listed(workflow)) views.push(view);
  const found: InstanceEvidence[] = [];
  for (let from = 0; from < views.length; from += readAtOnce) {
    const some = views.slice(from, from + readAtOnce);
    found.push(...(await Promise.all(some.map((view) => readInstance(workflow, view)))));
  }
  return found;
}

async function readInstance(
  workflow: WorkflowHandle,
  { id, params }: InstanceView,
): Promise<InstanceEvidence> {
  const handle = await workflow.get(id);
  const runs: RunEvidence[] = [];
  for (const run of (await handle.runs()).toReversed()) {
    const history = await handle.history({ runNumber: run.runNumber, pageSize: 100 });
    if (history.stepsHasNextPage || history.eventsHasNextPage)
      throw new Error(`${id} is too long to be read`);
    runs.push(runEvidence(run, history));
  }
  return { workflowName: workflow.name, id, params, runs };
}

async function* listed(workflow: WorkflowHandle): AsyncGenerator<InstanceView> {
  let cursor: string | undefined;
  do {
    const page = await workflow.list({ pageSize: 100, order: "asc", cursor });
    yield* page.items;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

function runEvidence(
  run: InstanceView,
  { steps, events }: { readonly steps: readonly StepView[]; readonly events: readonly EventView[] },
): RunEvidence {
  return {
    runNumber: run.runNumber,
    status: run.status,
    output: run.output,
    errorMessage: run.error?.message ?? null,
    terminationMessage: run.terminationReason?.message ?? null,
    steps,
    events,
  };
}
