import type { EventRecord } from "../../model/event.ts";
import type { InstanceRecord, InstanceRef, InstanceStatus, RunId } from "../../model/instance.ts";
import { instanceStatuses, isTerminal } from "../../model/instance.ts";
import type { StoredLogLine } from "../../model/log-line.ts";
import type { StepRecord } from "../../model/step.ts";
import type {
  InstanceQuery,
  LogQuery,
  Page,
  PageQuery,
  RunHistory,
  RunRead,
  TopicWaiter,
} from "../../store/index.ts";
import type { MemoryDatabase, Waiter, Workflow } from "./database.ts";
import { pageOf } from "./page.ts";
import type { Instance, Run } from "./run.ts";
import { currentRun } from "./run.ts";

/** A run that was removed is left out: an empty history would be taken for one that never started. */
export function readRun(
  database: MemoryDatabase,
  { runId, steps, eventsAfter }: RunRead,
): readonly RunHistory[] {
  const run = database.runs.get(runId);
  if (run === undefined) return [];
  const known = steps ? [...run.steps.values()] : [];
  const events = [...run.undelivered.values()].filter((event) => event.seq > eventsAfter);
  return [
    {
      kind: "history",
      runId,
      steps: known.sort((a, b) => a.index - b.index),
      events: events.sort((a, b) => a.seq - b.seq),
    },
  ];
}

export function getInstance(
  database: MemoryDatabase,
  ref: InstanceRef,
  runNumber?: number,
): InstanceRecord | undefined {
  const instance = database.find(ref);
  if (instance === undefined) return undefined;
  const run = runNumber === undefined ? currentRun(instance) : instance.runs[runNumber - 1];
  return run === undefined ? undefined : recordOf(run);
}

export function listInstances(database: MemoryDatabase, query: InstanceQuery): Page<InstanceRecord> {
  const wanted = [...instancesOf(database, query.workflowName)].filter((instance) => {
    const { status, deadLetter } = currentRun(instance);
    if (query.statuses !== undefined && !query.statuses.includes(status)) return false;
    return query.deadLetter === undefined || query.deadLetter === deadLetter;
  });
  // The serial belongs to the instance, not to its run: a restart in mid-traversal neither repeats nor hides it.
  const page = pageOf(wanted, ({ createdAt, serial }) => [createdAt, serial], query, "desc");
  return { ...page, items: page.items.map((instance) => recordOf(currentRun(instance))) };
}

export function listRuns(
  database: MemoryDatabase,
  ref: InstanceRef,
  limit: number,
): readonly InstanceRecord[] {
  const runs = database.find(ref)?.runs ?? [];
  return runs.toReversed().slice(0, limit).map(recordOf);
}

export function listSteps(database: MemoryDatabase, runId: RunId, query: PageQuery): Page<StepRecord> {
  return pageOf(database.runs.get(runId)?.steps.values() ?? [], ({ index }) => [index], query);
}

export function listEvents(database: MemoryDatabase, runId: RunId, query: PageQuery): Page<EventRecord> {
  const events = [...(database.runs.get(runId)?.events.values() ?? [])].filter((event) => !event.system);
  return pageOf(events, ({ seq }) => [seq], query);
}

export function listLogs(database: MemoryDatabase, runId: RunId, query: LogQuery): Page<StoredLogLine> {
  const lines = (database.runs.get(runId)?.logs ?? []).filter((line) => {
    if (query.level !== undefined && query.level !== line.level) return false;
    return query.category === undefined || query.category === line.category;
  });
  return pageOf(lines, ({ seq }) => [seq], query);
}

export function listWaiters(database: MemoryDatabase, topic: string, query: PageQuery): Page<TopicWaiter> {
  const waiters = [...(database.topics.get(topic)?.values() ?? [])].filter(
    ({ run }) => !isTerminal(run.status),
  );
  const page = pageOf(waiters, ({ run, index }) => [run.id, index], query);
  return { ...page, items: page.items.flatMap((waiter) => waiterRecordOf(waiter, topic)) };
}

export function countByStatus(
  database: MemoryDatabase,
  workflowName?: string,
): Readonly<Record<InstanceStatus, number>> {
  const counts = Object.fromEntries(instanceStatuses.map((status) => [status, 0])) as Record<
    InstanceStatus,
    number
  >;
  for (const instance of instancesOf(database, workflowName)) counts[currentRun(instance).status] += 1;
  return counts;
}

export function nextDueAt(database: MemoryDatabase, workflows: readonly string[]): number | null {
  const dueTimes = workflows.flatMap((name) => {
    const workflow = database.workflows.get(name);
    return [workflow?.resumes.first?.dueAt, workflow?.starts.first?.dueAt];
  });
  const known = dueTimes.filter((dueAt) => dueAt !== undefined);
  return known.length === 0 ? null : Math.min(...known);
}

function* instancesOf(database: MemoryDatabase, workflowName?: string): Generator<Instance> {
  const workflows: Iterable<Workflow | undefined> =
    workflowName === undefined ? database.workflows.values() : [database.workflows.get(workflowName)];
  for (const workflow of workflows) yield* workflow?.instances.values() ?? [];
}

function recordOf(run: Run): InstanceRecord {
  const { instance } = run;
  const wantsTurn = run.leased || !(run.status === "paused" || isTerminal(run.status));
  return {
    workflowName: instance.workflowName,
    instanceId: instance.instanceId,
    runId: run.id,
    runNumber: run.number,
    status: run.status,
    params: instance.params,
    output: run.output,
    error: run.error,
    terminationReason: run.terminationReason,
    deadLetter: run.deadLetter,
    createdAt: instance.createdAt,
    startedAt: run.startedAt,
    updatedAt: updatedAt(run),
    completedAt: run.completedAt,
    pausedAt: run.pausedAt,
    deadlineAt: instance.deadlineAt,
    retentionMs: instance.retentionMs,
    retentionUntil: run.retentionUntil,
    parent: instance.parent,
    executing: run.leased,
    dueAt: wantsTurn ? run.dueAt : null,
    crashCount: run.crashCount,
    token: run.token,
    begun: run.begun,
  };
}

function updatedAt(run: Run): number {
  let newest = run.updatedAt;
  for (const step of run.steps.values()) {
    newest = Math.max(newest, step.createdAt, step.status === "waiting" ? 0 : step.settledAt);
  }
  return newest;
}

function waiterRecordOf({ run, index }: Waiter, topic: string): TopicWaiter[] {
  const wait = run.open.get(index);
  if (wait === undefined) return [];
  const { workflowName, instanceId } = run.instance;
  return [
    { workflowName, instanceId, runNumber: run.number, stepKey: wait.key, topic, deadlineAt: wait.wakeAt },
  ];
}
