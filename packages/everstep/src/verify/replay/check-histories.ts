/** Holds code against the histories of all unfinished instances of a store, page by page. Reads only. */
import type { WorkflowDefinition } from "../../authoring/define-workflow.ts";
import type { TurnScope } from "../../engine/turn-host.ts";
import { type InstanceRecord, type InstanceStatus, isTerminal } from "../../model/instance.ts";
import type { Runtime } from "../../model/runtime.ts";
import { readInPortions } from "../../store/read-in-portions.ts";
import type { RunHistory, Store } from "../../store/store.ts";
import { type CheckProgress, type CheckReport, ReportBuilder } from "./check-report.ts";
import { isHarmless } from "./classification.ts";
import { type ReplayFinding, unknownWorkflow, unreadableRun } from "./finding.ts";
import { guardAgainstStrayErrors, judge } from "./judge.ts";
import { recordedRun } from "./recorded-run.ts";
import type { RehearsalParts } from "./rehearse.ts";

export type HistoryReads = Pick<Store, "listInstances" | "getInstance" | "readRuns">;

export interface CheckPlan {
  readonly reads: HistoryReads;
  readonly runtime: Runtime;
  readonly definitions: ReadonlyMap<string, WorkflowDefinition>;
  /** Workflows of the library's own, which no code of the author's knows. */
  readonly passedOver: ReadonlySet<string>;
  readonly workflowName: string | undefined;
  /** Instances to look at, at most. */
  readonly limit: number;
  readonly after: string | undefined;
  /** Instances that are replayed at the same time. */
  readonly concurrency: number;
  readonly patienceMs: number;
  readonly onProgress: ((progress: CheckProgress) => void) | undefined;
  /** Rejects when the check should not go on. */
  readonly mayGoOn: () => Promise<void>;
}

const unfinished: readonly InstanceStatus[] = ["active", "waiting", "paused"];
const pageMax = 100;
/** How often an instance that goes on while it is looked at is looked at. */
const looksMax = 3;

export async function checkHistories(plan: CheckPlan): Promise<CheckReport> {
  const { runtime, patienceMs } = plan;
  const parts = { runtime, patienceMs, scope: runtime.createScope<TurnScope>() };
  const report = new ReportBuilder(plan.after);
  const unguard = guardAgainstStrayErrors(parts);
  try {
    await checkPages(plan, parts, report);
  } finally {
    unguard();
  }
  return report.build();
}

async function checkPages(plan: CheckPlan, parts: RehearsalParts, report: ReportBuilder): Promise<void> {
  let left = plan.limit;
  while (left > 0 && !report.isComplete) {
    await plan.mayGoOn();
    const page = await plan.reads.listInstances({
      // Oldest first: what is created meanwhile comes last.
      order: "asc",
      limit: Math.min(left, pageMax),
      statuses: unfinished,
      ...(report.after === undefined ? {} : { after: report.after }),
      ...(plan.workflowName === undefined ? {} : { workflowName: plan.workflowName }),
    });
    const records = page.items.filter(({ workflowName }) => !plan.passedOver.has(workflowName));
    for (let at = 0; at < records.length; at += plan.concurrency) {
      await plan.mayGoOn();
      const findings = await lookAt(records.slice(at, at + plan.concurrency), plan, parts);
      for (const finding of findings) if (finding) report.add(finding);
      plan.onProgress?.(report.progress);
    }
    left -= page.items.length;
    report.pageIsDone(page.after);
  }
}

async function lookAt(
  records: readonly InstanceRecord[],
  plan: CheckPlan,
  parts: RehearsalParts,
): Promise<readonly (ReplayFinding | null)[]> {
  const known = records.filter(({ workflowName }) => plan.definitions.has(workflowName));
  const histories = await readHistories(known, plan.reads);
  return Promise.all(records.map((record) => findingFor(record, histories.get(record.runId), plan, parts)));
}

async function readHistories(
  records: readonly InstanceRecord[],
  reads: HistoryReads,
): Promise<ReadonlyMap<InstanceRecord["runId"], RunHistory>> {
  if (records.length === 0) return new Map();
  // What was sent and not taken yet has no part in a replay.
  const eventsAfter = Number.MAX_SAFE_INTEGER;
  const read = await readInPortions(
    reads,
    records.map(({ runId }) => ({ runId, steps: true, eventsAfter })),
  );
  return new Map(read.map((history) => [history.runId, history]));
}

/** Null for an instance that is gone or has ended meanwhile. */
async function findingFor(
  listed: InstanceRecord,
  read: RunHistory | undefined,
  plan: CheckPlan,
  parts: RehearsalParts,
): Promise<ReplayFinding | null> {
  const definition = plan.definitions.get(listed.workflowName);
  if (!definition) return unknownWorkflow(listed);
  let record = listed;
  let history = read;
  for (let look = 1; ; look++) {
    if (!history || history.kind === "unread") return null;
    const finding =
      history.kind === "unreadable"
        ? unreadableRun(record, history.error)
        : (await judge(recordedRun(record, history.steps), definition, parts)).finding;
    if (isHarmless(finding.classification) || look === looksMax) return finding;
    // It may have gone on between the two reads; only what stands still is worth an alarm.
    const now = await plan.reads.getInstance(record);
    if (!now || isTerminal(now.status)) return null;
    if (isUnchanged(record, now)) return finding;
    record = now;
    history = (await readHistories([now], plan.reads)).get(now.runId);
  }
}

function isUnchanged(before: InstanceRecord, after: InstanceRecord): boolean {
  return (
    before.runId === after.runId &&
    before.status === after.status &&
    before.token === after.token &&
    before.updatedAt === after.updatedAt
  );
}
