/** What has not ended, and why: for whoever has to find out. */
import type { App, InstanceView, WorkflowHandle } from "everstep";
import type { ChaosWorkflows } from "./journey.ts";
import type { LedgerLine } from "./ledger.ts";

const shownMax = 8;

export async function describeStuck(
  app: App<ChaosWorkflows>,
  ledger: readonly LedgerLine[],
): Promise<string> {
  const stuck: string[] = [];
  let count = 0;
  for (const workflow of Object.values(app.workflows)) {
    const { items } = await workflow.list({ status: ["active", "waiting", "paused"], pageSize: 100 });
    count += items.length;
    for (const view of items.slice(0, shownMax)) stuck.push(await describe(workflow, view, app, ledger));
  }
  return `${count} instances have not ended, at ${new Date().toISOString()}:\n${stuck.join("\n")}`;
}

/** One phrase for each instance that has not ended. */
export async function listOpen(app: App<ChaosWorkflows>): Promise<string[]> {
  const open: string[] = [];
  for (const workflow of Object.values(app.workflows)) {
    const { items } = await workflow.list({ status: ["active", "waiting", "paused"], pageSize: 100 });
    for (const { id } of items) {
      const record = await app.store.getInstance({ workflowName: workflow.name, instanceId: id });
      const { status, executing, dueAt, crashCount } = record ?? {};
      const dueInMs = dueAt == null ? null : dueAt - Date.now();
      const due = dueInMs === null ? "never due" : `due in ${(dueInMs / 1000).toFixed(1)} s`;
      open.push(`${id} ${executing ? "leased" : status}, ${due}, ${crashCount} crashes`);
    }
  }
  return open;
}

async function describe(
  workflow: WorkflowHandle,
  { id }: InstanceView,
  app: App<ChaosWorkflows>,
  ledger: readonly LedgerLine[],
): Promise<string> {
  const handle = await workflow.get(id);
  const record = await app.store.getInstance({ workflowName: workflow.name, instanceId: id });
  const { steps, events } = await handle.history({ pageSize: 100 });
  const logs = (await handle.logs({ pageSize: 5, order: "desc" })).items;
  const begins = ledger.filter(
    (line) => line.kind === "begin" && line.body.startsWith(`${workflow.name}/${id}/`),
  );
  const tokens = new Set(begins.map((line) => (line.kind === "begin" ? line.token : "")));
  const ends = ledger.filter((line) => line.kind === "end" && tokens.has(line.token));
  const { status, runNumber, executing, dueAt, crashCount, token, begun } = record ?? {};
  const due = dueAt == null ? "never" : new Date(dueAt).toISOString();
  const lines = [
    `${workflow.name}/${id} run ${runNumber}: ${status}, due ${due}, ${executing ? "leased" : "not leased"}, ` +
      `token ${token}, ${crashCount} crashes, begun ${JSON.stringify(begun)}`,
    ...steps
      .filter((step) => step.status === "waiting")
      .map(
        (step) =>
          `waits: ${step.stepKey} (${step.type} ${step.waitEventType ?? step.topic ?? ""}) until ${step.wakeAt?.toISOString() ?? step.nextRetryAt?.toISOString()}`,
      ),
    `${steps.length} steps, ${events.filter(({ consumedByStepKey }) => !consumedByStepKey).length} events not taken`,
    ...logs.map(({ level, message }) => `log: ${level} ${message}`),
    ...[...begins, ...ends]
      .slice(-6)
      .map((line) => `ledger: ${JSON.stringify({ ...line, seen: undefined })}`),
  ];
  return lines.join("\n    ");
}
