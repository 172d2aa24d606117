/** Instances, with the facts of their current run or of another. */
import {
  type InstanceRecord,
  type InstanceRef,
  type InstanceStatus,
  instanceStatuses,
} from "../../../model/instance.ts";
import { taskKinds } from "../../../model/task.ts";
import type { DueQuery, DueRun, InstanceQuery, Page, ValueTerms } from "../../../store/store.ts";
import { readEnding } from "../records/ending-text.ts";
import { pageOf, placeCursor, readCursor, timeOrder, wide } from "../records/place.ts";
import { parse } from "../records/record-text.ts";
import { readBegunIfSound } from "../records/run-fields.ts";
import {
  countScript,
  getInstanceScript,
  getInstancesScript,
  getMarksScript,
  getStatusesScript,
  listDueScript,
  listInstancesScript,
  listRunsScript,
  nextDueScript,
} from "../scripts/index.ts";
import {
  Arguments,
  integer,
  integerOrNull,
  list,
  type Reply,
  text,
  textOrNull,
  unreadable,
  word,
} from "../server/script-values.ts";
import type { Session } from "../server/session.ts";

export async function getInstance(
  session: Session,
  { workflowName, instanceId }: InstanceRef,
  runNumber?: number,
): Promise<InstanceRecord | undefined> {
  const args = new Arguments().add(workflowName, instanceId).number(runNumber);
  const reply = await session.run(getInstanceScript, args.list, "reading");
  return reply === null ? undefined : readInstance(list(reply));
}

export async function getInstances(
  session: Session,
  refs: readonly InstanceRef[],
): Promise<readonly (InstanceRecord | undefined)[]> {
  const args = new Arguments();
  args.each(refs, ({ workflowName, instanceId }) => args.add(workflowName, instanceId));
  const replies = list(await session.run(getInstancesScript, args.list, "reading"));
  return replies.map((reply) => (reply === null ? undefined : readInstance(list(reply))));
}

export async function getStatuses(
  session: Session,
  refs: readonly InstanceRef[],
): Promise<readonly (InstanceStatus | undefined)[]> {
  const args = new Arguments();
  args.each(refs, ({ workflowName, instanceId }) => args.add(workflowName, instanceId));
  const replies = list(await session.run(getStatusesScript, args.list, "reading"));
  return replies.map((reply) => (reply === null ? undefined : word(reply, instanceStatuses)));
}

export async function getMarks(
  session: Session,
  refs: readonly InstanceRef[],
): Promise<readonly (string | undefined)[]> {
  const args = new Arguments();
  args.each(refs, ({ workflowName, instanceId }) => args.add(workflowName, instanceId));
  const replies = list(await session.run(getMarksScript, args.list, "reading"));
  return replies.map((reply) => textOrNull(reply) ?? undefined);
}

export async function listRuns(
  session: Session,
  { workflowName, instanceId }: InstanceRef,
  limit: number,
  { brief = false }: ValueTerms = {},
): Promise<readonly InstanceRecord[]> {
  const args = new Arguments().add(workflowName, instanceId, limit).flag(brief);
  const replies = list(await session.run(listRunsScript, args.list, "reading"));
  return replies.map((reply) => readInstance(list(reply)));
}

/** Dead letters are listed apart from other errored instances. */
type Class = InstanceStatus | "dead";

/** Where an id is looked for, a script looks at some of the instances, and a call of it at no more than some scripts do. */
const looksMax = 5;

export async function listInstances(session: Session, query: InstanceQuery): Promise<Page<InstanceRecord>> {
  const { idPrefix, limit, order = "desc", brief = false } = query;
  const { from, to } = rangeOf(query);
  const found: (readonly Reply[])[] = [];
  let lookedTo: string | null = from;
  for (let look = 1; look <= looksMax && lookedTo !== null && found.length <= limit; look += 1) {
    const args = new Arguments().add(order).flag(brief);
    args.add(lookedTo, to, limit + 1 - found.length).text(idPrefix);
    args.text(query.workflowName).each(classesOf(query), (each) => args.add(each));
    const [rows, last] = list(await session.run(listInstancesScript, args.list, "reading"));
    found.push(...list(rows).map(list));
    lookedTo = textOrNull(last);
  }
  const page = pageOf(
    found,
    limit,
    ([, record]) => readInstance(list(record)),
    ([place]) => placeCursor(text(place)),
  );
  return page.after === undefined && lookedTo !== null ? { ...page, after: placeCursor(lookedTo) } : page;
}

function classesOf({ statuses = instanceStatuses, deadLetter }: InstanceQuery): readonly Class[] {
  const dead: readonly Class[] = statuses.includes("errored") && deadLetter !== false ? ["dead"] : [];
  return deadLetter === true ? dead : [...new Set(statuses), ...dead];
}

/**
 * The part of the list to read, from behind one text up to another, empty for its ends. A time alone lies before every
 * place of that time. The serial in a place belongs to the instance, not to its run: a restart in mid-traversal neither
 * repeats nor hides it.
 */
function rangeOf(query: InstanceQuery): { readonly from: string; readonly to: string } {
  const { after, createdFrom, createdBefore, order } = query;
  const oldest = createdFrom === undefined ? "" : timeOrder(createdFrom);
  const newest = createdBefore === undefined ? "" : timeOrder(createdBefore);
  const [first, to] = order === "asc" ? [oldest, newest] : [newest, oldest];
  if (after === undefined) return { from: first, to };
  const [createdAt, serial] = readCursor(after, 2) as [number, number];
  const place = timeOrder(createdAt) + wide(serial);
  const isInside = first === "" || (order === "asc" ? place > first : place < first);
  return { from: isInside ? place : first, to };
}

export async function countByStatus(
  session: Session,
  workflowName?: string,
): Promise<Readonly<Record<InstanceStatus, number>>> {
  const classes: readonly Class[] = [...instanceStatuses, "dead"];
  const args = new Arguments().text(workflowName);
  args.each(classes, (each) => args.add(each));
  const counts = list(await session.run(countScript, args.list, "reading")).map((count) => integer(count));
  const dead = counts.at(-1) as number;
  return Object.fromEntries(
    instanceStatuses.map((status, n) => [status, (counts[n] as number) + (status === "errored" ? dead : 0)]),
  ) as Record<InstanceStatus, number>;
}

export async function nextDueAt(session: Session, workflows: readonly string[]): Promise<number | null> {
  const args = new Arguments();
  args.each(workflows, (name) => args.add(name));
  return integerOrNull(await session.run(nextDueScript, args.list, "reading"));
}

/** In the order of `recordOf` in scripts/instances.lua.ts. */
export function readInstance(reply: readonly Reply[]): InstanceRecord {
  const [
    workflowName,
    instanceId,
    runId,
    runNumber,
    statusText,
    lane,
    dueAt,
    token,
    crashCount,
    begun,
    dead,
  ] = reply;
  const [startedAt, updatedAt, pausedAt, completedAt, retentionUntil, ending] = reply.slice(11);
  const [params, marks, createdAt, deadlineAt, retentionMs, parent, unlisted] = reply.slice(17);
  const status = word(statusText, instanceStatuses);
  return {
    workflowName: text(workflowName),
    instanceId: text(instanceId),
    runId: integer(runId),
    runNumber: integer(runNumber),
    status,
    params: { json: text(params), marks: textOrNull(marks) },
    ...readEnding(textOrNull(ending), status),
    deadLetter: dead === "1",
    createdAt: integer(createdAt),
    startedAt: integerOrNull(startedAt),
    updatedAt: integer(updatedAt),
    completedAt: integerOrNull(completedAt),
    pausedAt: integerOrNull(pausedAt),
    deadlineAt: integerOrNull(deadlineAt),
    retentionMs: integerOrNull(retentionMs),
    retentionUntil: integerOrNull(retentionUntil),
    parent: readParent(textOrNull(parent)),
    executing: lane === "held" || lane === "heldPaused",
    dueAt: lane === null ? null : integer(dueAt),
    crashCount: integer(crashCount),
    token: integer(token),
    begun: readBegunIfSound(textOrNull(begun)) ?? [],
    ...(unlisted === "1" ? { unlisted: true } : {}),
  };
}

function readParent(json: string | null): InstanceRef | null {
  if (json === null) return null;
  const parent = parse(json);
  if (!Array.isArray(parent)) throw unreadable("a parent", json);
  return { workflowName: parent[0], instanceId: parent[1] };
}

export async function listDue(session: Session, { before, limit }: DueQuery): Promise<readonly DueRun[]> {
  const args = new Arguments().add(before, limit);
  const rows = list(await session.run(listDueScript, args.list, "reading"));
  return rows.map((row) => readDue(list(row)));
}

function readDue([workflowName, instanceId, runNumber, kind, dueAt]: readonly Reply[]): DueRun {
  return {
    workflowName: text(workflowName),
    instanceId: text(instanceId),
    runNumber: integer(runNumber),
    // A word that nobody knows must not hide what else is due.
    kind: taskKinds.find((known) => known === kind) ?? "resume",
    dueAt: integer(dueAt),
  };
}
