/** Instances, with the facts of their current run or of another. */
import {
  type InstanceRecord,
  type InstanceRef,
  type InstanceStatus,
  instanceStatuses,
} from "../../model/instance.ts";
import type { InstanceQuery, Page } from "../../store/store.ts";
import { Arguments } from "./arguments.ts";
import { readInstance } from "./instance-record.ts";
import { cursor, pageOf, readCursor, timeOrder, wide } from "./place.ts";
import { integer, integerOrNull, list, type Reply, text, word } from "./reply.ts";
import {
  countScript,
  getInstanceScript,
  getStatusesScript,
  listInstancesScript,
  listRunsScript,
  nextDueScript,
} from "./scripts/index.ts";
import type { Session } from "./session.ts";

export async function getInstance(
  session: Session,
  { workflowName, instanceId }: InstanceRef,
  runNumber?: number,
): Promise<InstanceRecord | undefined> {
  const args = new Arguments().add(workflowName, instanceId).number(runNumber);
  const reply = await session.run(getInstanceScript, args.list, "reading");
  return reply === null ? undefined : readInstance(list(reply));
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

export async function listRuns(
  session: Session,
  { workflowName, instanceId }: InstanceRef,
  limit: number,
): Promise<readonly InstanceRecord[]> {
  const args = new Arguments().add(workflowName, instanceId, limit);
  const replies = list(await session.run(listRunsScript, args.list, "reading"));
  return replies.map((reply) => readInstance(list(reply)));
}

/** Dead letters are listed apart from other errored instances. */
type Class = InstanceStatus | "dead";

export async function listInstances(session: Session, query: InstanceQuery): Promise<Page<InstanceRecord>> {
  const args = new Arguments().add(query.order ?? "desc", placeAfter(query), query.limit + 1);
  args.text(query.workflowName).each(classesOf(query), (each) => args.add(each));
  const rows = list(await session.run(listInstancesScript, args.list, "reading")).map(list);
  return pageOf(rows, query.limit, ([, record]) => readInstance(list(record)), cursorOf);
}

function classesOf({ statuses = instanceStatuses, deadLetter }: InstanceQuery): readonly Class[] {
  const dead: readonly Class[] = statuses.includes("errored") && deadLetter !== false ? ["dead"] : [];
  return deadLetter === true ? dead : [...new Set(statuses), ...dead];
}

function placeAfter({ after }: InstanceQuery): string {
  if (after === undefined) return "";
  const [createdAt, serial] = readCursor(after, 2) as [number, number];
  return timeOrder(createdAt) + wide(serial);
}

/** The serial belongs to the instance, not to its run: a restart in mid-traversal neither repeats nor hides it. */
function cursorOf([place, record]: readonly Reply[]): string {
  return cursor(readInstance(list(record)).createdAt, integer(text(place).slice(17)));
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
