/** Pages of what belongs to one run, and of the waits on a topic. */
import type { EventRecord } from "../../../model/event.ts";
import { instanceStatuses, type RunId } from "../../../model/instance.ts";
import type { StoredLogLine } from "../../../model/log-line.ts";
import type { StepRecord } from "../../../model/step.ts";
import type {
  LogQuery,
  Page,
  PageQuery,
  RunHistory,
  RunRead,
  TopicSummary,
  TopicWaiter,
  ValueTerms,
} from "../../../store/store.ts";
import { readTopicCursor, topicCursor } from "../../../store/topic-cursor.ts";
import { categoryMark, eventReplies, levelMark, readEvent, readLog } from "../records/event-text.ts";
import { cursor, pageOf, readCursor, runName, wide } from "../records/place.ts";
import { readBegun } from "../records/run-fields.ts";
import { readStep } from "../records/step-text.ts";
import {
  addTopicsScript,
  listEventsScript,
  listLogsScript,
  listStepsScript,
  listTopicsScript,
  listWaitersScript,
  readRunsScript,
} from "../scripts/index.ts";
import {
  Arguments,
  integer,
  integerOrNull,
  list,
  type Reply,
  text,
  textOrNull,
  word,
} from "../server/script-values.ts";
import type { Session } from "../server/session.ts";

export async function listSteps(
  session: Session,
  runId: RunId,
  query: PageQuery & ValueTerms,
): Promise<Page<StepRecord>> {
  const args = pageArguments(runId, query, placeAfter(query)).flag(query.brief ?? false);
  const steps = readSteps(list(await session.run(listStepsScript, args.list, "reading")));
  return pageOf(steps, query.limit, itself, (step) => cursor(step.index));
}

export async function listEvents(
  session: Session,
  runId: RunId,
  query: PageQuery,
): Promise<Page<EventRecord>> {
  const args = pageArguments(runId, query, placeAfter(query));
  const events = readEvents(list(await session.run(listEventsScript, args.list, "reading")));
  return pageOf(events, query.limit, itself, (event) => cursor(event.seq));
}

/** A script looks at a bounded number of lines, so a filter that few of them pass may take several. */
export async function listLogs(
  session: Session,
  runId: RunId,
  query: LogQuery,
): Promise<Page<StoredLogLine>> {
  const lines: StoredLogLine[] = [];
  let after = placeAfter(query);
  do {
    const args = pageArguments(runId, { ...query, limit: query.limit - lines.length }, after);
    args.text(query.level && levelMark(query.level));
    args.text(query.category === undefined ? null : categoryMark(query.category));
    const [rows = [], goOn = null] = list(await session.run(listLogsScript, args.list, "reading"));
    lines.push(...readLines(list(rows)));
    after = goOn === null ? null : integer(goOn);
  } while (after !== null);
  return pageOf(lines, query.limit, itself, (line) => cursor(line.seq));
}

function readLines(rows: readonly Reply[]): StoredLogLine[] {
  const lines: StoredLogLine[] = [];
  for (let n = 0; n < rows.length; n += 2) lines.push(readLog(integer(rows[n]), text(rows[n + 1])));
  return lines;
}

export async function listWaiters(
  session: Session,
  topic: string,
  query: PageQuery,
): Promise<Page<TopicWaiter>> {
  const after = query.after === undefined ? "" : readCursor(query.after, 2).map(wide).join("");
  const args = new Arguments().add(topic, query.order ?? "asc", after, query.limit + 1);
  const rows = list(await session.run(listWaitersScript, args.list, "reading")).map(list);
  const page = pageOf(
    rows,
    query.limit,
    (row) => readWaiter(row, topic),
    ([run, index]) => cursor(integer(run), integer(index)),
  );
  return { ...page, items: page.items.filter((waiter) => waiter !== undefined) };
}

function readWaiter(row: readonly Reply[], topic: string): TopicWaiter | undefined {
  const [, , workflowName, instanceId, runNumber, stepKey, deadlineAt, hasEvent] = row;
  // Its wait cannot be read.
  if (workflowName === undefined) return undefined;
  return {
    workflowName: text(workflowName),
    instanceId: text(instanceId),
    runNumber: integer(runNumber),
    stepKey: text(stepKey),
    topic,
    deadlineAt: integer(deadlineAt),
    hasEvent: hasEvent === "1",
  };
}

function placeAfter({ after }: PageQuery): number | null {
  return after === undefined ? null : (readCursor(after, 1)[0] as number);
}

function pageArguments(runId: RunId, { order, limit }: PageQuery, after: number | null): Arguments {
  return new Arguments()
    .add(runName(runId), order ?? "asc")
    .number(after)
    .add(limit + 1);
}

function itself<Item>(item: Item): Item {
  return item;
}

export async function readRuns(
  session: Session,
  requests: readonly RunRead[],
  maxBytes?: number,
): Promise<readonly RunHistory[]> {
  const args = new Arguments();
  args.number(maxBytes);
  args.each(requests, ({ runId, steps, eventsAfter }) =>
    args.add(runName(runId)).flag(steps).add(eventsAfter),
  );
  const replies = list(await session.run(readRunsScript, args.list, "reading"));
  return replies.map((reply) => readHistory(list(reply)));
}

function readHistory([id, status, begun, steps, events]: readonly Reply[]): RunHistory {
  const runId = integer(id);
  if (status === undefined) return { kind: "unread", runId };
  try {
    word(status, instanceStatuses);
    readBegun(textOrNull(begun));
    return {
      kind: "history",
      runId,
      steps: readSteps(list(steps)).sort((a, b) => a.index - b.index),
      events: readEvents(list(events)),
    };
  } catch (error) {
    return { kind: "unreadable", runId, error: error as Error };
  }
}

export function readSteps(replies: readonly Reply[]): StepRecord[] {
  const steps: StepRecord[] = [];
  for (let n = 0; n < replies.length; n += 2) {
    steps.push(readStep(text(replies[n]), integerOrNull(replies[n + 1])));
  }
  return steps;
}

export function readEvents(replies: readonly Reply[]): EventRecord[] {
  const events: EventRecord[] = [];
  for (let n = 0; n < replies.length; n += eventReplies) events.push(readEvent(replies, n));
  return events;
}

/** Topics that are waited on now. */

export async function listTopics(session: Session, query: PageQuery): Promise<Page<TopicSummary>> {
  const { limit, after, order = "asc" } = query;
  const args = new Arguments()
    .add(order)
    .text(after === undefined ? undefined : readTopicCursor(after))
    .add(limit + 1);
  const read = (): Promise<Reply> => session.run(listTopicsScript, args.list, "reading");
  let reply = await read();
  if (reply === null) {
    await findTopics(session);
    reply = await read();
  }
  const page = pageOf(
    topicsOf(list(reply)),
    limit,
    (summary) => summary,
    ({ topic }) => topicCursor(topic),
  );
  // Left behind by a version that kept no list.
  return { ...page, items: page.items.filter(({ waiters }) => waiters > 0) };
}

function topicsOf(rows: readonly Reply[]): readonly TopicSummary[] {
  const topics: TopicSummary[] = [];
  for (let n = 0; n < rows.length; n += 2)
    topics.push({ topic: text(rows[n]), waiters: integer(rows[n + 1]) });
  return topics;
}

/**
 * Once, where the data is older than the list of topics: whatever begins to wait meanwhile is added by itself. All of it on
 * one connection: a node that the namespace has left in the meantime may not have shown all of its keys.
 */
async function findTopics(session: Session): Promise<void> {
  const prefix = `{${session.settings.namespace}}:topic:`;
  let asked: string;
  do {
    asked = session.sender;
    let cursor = "0";
    do {
      const [next, keys] = list(
        await session.command("SCAN", cursor, "MATCH", `${prefix}*`, "COUNT", "1000"),
      );
      await addTopics(
        session,
        list(keys).map((key) => text(key).slice(prefix.length)),
        false,
      );
      cursor = text(next);
    } while (cursor !== "0" && session.sender === asked);
  } while (session.sender !== asked);
  await addTopics(session, [], true);
}

async function addTopics(session: Session, topics: readonly string[], areAll: boolean): Promise<void> {
  const args = new Arguments().flag(areAll);
  args.each(topics, (topic) => args.add(topic));
  await session.run(addTopicsScript, args.list, "writing");
}
