import type { EventRecord } from "../../model/event.ts";
import type { InstanceRecord, InstanceRef, InstanceStatus, RunId } from "../../model/instance.ts";
import { inputOf, instanceStatuses, isTerminal } from "../../model/instance.ts";
import type { StoredLogLine } from "../../model/log-line.ts";
import type { StepRecord } from "../../model/step.ts";
import { isLeased } from "../../store/apply/lane.ts";
import { runKey } from "../../store/apply/run-key.ts";
import type {
  DueQuery,
  DueRun,
  InstanceQuery,
  LogQuery,
  Page,
  PageQuery,
  RunHistory,
  RunRead,
  TopicSummary,
  TopicWaiter,
  ValueTerms,
} from "../../store/index.ts";
import { readTopicCursor, topicCursor } from "../../store/topic-cursor.ts";
import { unreadValue } from "../../store/unread-value.ts";
import type { MemoryDatabase, Waiter, Workflow } from "./database.ts";
import { isBefore } from "./due-queue.ts";
import { pageOf } from "./page.ts";
import type { Instance, Run } from "./run.ts";
import { currentRun } from "./run.ts";

/** A run that was removed is left out: an empty history would be taken for one that never started. */
export function readRun(
  database: MemoryDatabase,
  { runId, steps, eventsAfter }: RunRead,
): readonly RunHistory[] {
  const run = database.runs.get(runKey(runId));
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

export function getMark(database: MemoryDatabase, ref: InstanceRef): string | undefined {
  const instance = database.find(ref);
  if (instance === undefined) return undefined;
  const { run, status, token, lastCommit, eventSeq, logSeq, dueAt, lane, updatedAt } =
    currentRun(instance).row;
  return [run, status, token, lastCommit, eventSeq, logSeq, dueAt, lane, updatedAt].join(" ");
}

export function listInstances(database: MemoryDatabase, query: InstanceQuery): Page<InstanceRecord> {
  const wanted = [...instancesOf(database, query.workflowName)].filter((instance) => {
    const { status, deadLetter } = currentRun(instance).row;
    if (query.statuses !== undefined && !query.statuses.includes(status)) return false;
    if (query.deadLetter !== undefined && query.deadLetter !== deadLetter) return false;
    return isWithin(instance, query);
  });
  // The id belongs to the instance, not to its run: a restart in mid-traversal neither repeats nor hides it.
  const page = pageOf(wanted, ({ createdAt, id }) => [createdAt, id], query, "desc");
  const show = query.brief ? briefRecordOf : recordOf;
  return { ...page, items: page.items.map((instance) => show(currentRun(instance))) };
}

function isWithin({ createdAt, instanceId }: Instance, query: InstanceQuery): boolean {
  if (query.createdFrom !== undefined && createdAt < query.createdFrom) return false;
  if (query.createdBefore !== undefined && createdAt >= query.createdBefore) return false;
  return query.idPrefix === undefined || instanceId.startsWith(query.idPrefix);
}

export function listRuns(
  database: MemoryDatabase,
  ref: InstanceRef,
  limit: number,
  { brief }: ValueTerms,
): readonly InstanceRecord[] {
  const runs = database.find(ref)?.runs ?? [];
  return runs
    .toReversed()
    .slice(0, limit)
    .map(brief ? briefRecordOf : recordOf);
}

export function listSteps(
  database: MemoryDatabase,
  runId: RunId,
  query: PageQuery & ValueTerms,
): Page<StepRecord> {
  const page = pageOf(database.runs.get(runKey(runId))?.steps.values() ?? [], ({ index }) => [index], query);
  return query.brief ? { ...page, items: page.items.map(withoutResult) } : page;
}

function withoutResult(step: StepRecord): StepRecord {
  if (step.status !== "completed") return step;
  return { ...step, result: { ...unreadValue, marks: step.result.marks } };
}

export function listEvents(database: MemoryDatabase, runId: RunId, query: PageQuery): Page<EventRecord> {
  const events = [...(database.runs.get(runKey(runId))?.events.values() ?? [])].filter(
    (event) => !event.system,
  );
  return pageOf(events, ({ seq }) => [seq], query);
}

export function listLogs(database: MemoryDatabase, runId: RunId, query: LogQuery): Page<StoredLogLine> {
  const lines = (database.runs.get(runKey(runId))?.logs ?? []).filter((line) => {
    if (query.level !== undefined && query.level !== line.level) return false;
    return query.category === undefined || query.category === line.category;
  });
  return pageOf(lines, ({ seq }) => [seq], query);
}

export function listWaiters(database: MemoryDatabase, topic: string, query: PageQuery): Page<TopicWaiter> {
  const page = pageOf(openWaiters(database, topic), ({ run, index }) => [run.id, index], query);
  return { ...page, items: page.items.flatMap((waiter) => waiterRecordOf(waiter, topic)) };
}

export function listTopics(database: MemoryDatabase, { limit, after, order }: PageQuery): Page<TopicSummary> {
  const sign = order === "desc" ? -1 : 1;
  const from = after === undefined ? undefined : readTopicCursor(after);
  const open = [...database.topics.keys()]
    .filter((topic) => from === undefined || sign * compareTexts(topic, from) > 0)
    .sort((a, b) => sign * compareTexts(a, b))
    .map((topic) => ({ topic, waiters: openWaiters(database, topic).length }))
    .filter(({ waiters }) => waiters > 0);
  const items = open.slice(0, limit);
  const last = items.at(-1);
  return open.length > limit && last !== undefined ? { items, after: topicCursor(last.topic) } : { items };
}

function openWaiters(database: MemoryDatabase, topic: string): readonly Waiter[] {
  return [...(database.topics.get(topic)?.values() ?? [])].filter(({ run }) => !isTerminal(run.row.status));
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function countByStatus(
  database: MemoryDatabase,
  workflowName?: string,
): Readonly<Record<InstanceStatus, number>> {
  const counts = Object.fromEntries(instanceStatuses.map((status) => [status, 0])) as Record<
    InstanceStatus,
    number
  >;
  for (const instance of instancesOf(database, workflowName)) counts[currentRun(instance).row.status] += 1;
  return counts;
}

export function nextDueAt(database: MemoryDatabase, workflows: readonly string[]): number | null {
  const dueTimes = workflows.flatMap((name) => {
    const workflow = database.workflows.get(name);
    return [workflow?.resumes.first?.row.dueAt, workflow?.starts.first?.row.dueAt];
  });
  const known = dueTimes.filter((dueAt) => dueAt !== undefined);
  return known.length === 0 ? null : Math.min(...known);
}

export function listDue(database: MemoryDatabase, { before, limit }: DueQuery): readonly DueRun[] {
  return [...instancesOf(database)]
    .map(currentRun)
    .filter(({ row: { lane, dueAt } }) => lane !== null && !isLeased(lane) && dueAt <= before)
    .sort((a, b) => (isBefore(a, b) ? -1 : 1))
    .slice(0, limit)
    .map(({ instance: { workflowName, instanceId }, row: { runNumber, kind, dueAt } }) => {
      return { workflowName, instanceId, runNumber, kind, dueAt };
    });
}

function* instancesOf(database: MemoryDatabase, workflowName?: string): Generator<Instance> {
  const workflows: Iterable<Workflow | undefined> =
    workflowName === undefined ? database.workflows.values() : [database.workflows.get(workflowName)];
  for (const workflow of workflows) yield* workflow?.instances.values() ?? [];
}

function briefRecordOf(run: Run): InstanceRecord {
  return { ...recordOf(run), params: unreadValue, output: null };
}

function recordOf({ row, instance, ending: end }: Run): InstanceRecord {
  const ending = end?.ending;
  return {
    ...inputOf(instance),
    runId: row.run,
    runNumber: row.runNumber,
    status: row.status,
    output: ending?.kind === "complete" ? ending.output : null,
    error: ending?.kind === "error" ? ending.error : null,
    terminationReason: ending?.kind === "terminate" ? ending.reason : null,
    deadLetter: row.deadLetter,
    startedAt: row.startedAt,
    updatedAt: row.updatedAt,
    completedAt: end?.at ?? null,
    pausedAt: row.pausedAt,
    retentionUntil: end === null || instance.retentionMs === null ? null : end.at + instance.retentionMs,
    executing: isLeased(row.lane),
    dueAt: row.lane === null ? null : row.dueAt,
    crashCount: row.crashCount,
    token: row.token,
    begun: row.begun,
  };
}

function waiterRecordOf({ run, index }: Waiter, topic: string): TopicWaiter[] {
  const wait = run.open.get(index);
  if (wait === undefined) return [];
  const { workflowName, instanceId } = run.instance;
  const { key: stepKey, wakeAt: deadlineAt } = wait;
  const hasEvent = isSpokenFor(run, stepKey);
  return [{ workflowName, instanceId, runNumber: run.row.runNumber, stepKey, topic, deadlineAt, hasEvent }];
}

/** The wait has its event already, though nobody has resumed it yet. */
function isSpokenFor(run: Run, key: string): boolean {
  for (const event of run.undelivered.values()) if (event.forStep === key) return true;
  return false;
}
