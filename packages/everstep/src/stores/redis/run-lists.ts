/** Pages of what belongs to one run, and of the waits on a topic. */
import type { EventRecord } from "../../model/event.ts";
import type { RunId } from "../../model/instance.ts";
import type { StoredLogLine } from "../../model/log-line.ts";
import type { StepRecord } from "../../model/step.ts";
import type { LogQuery, Page, PageQuery, TopicWaiter, ValueTerms } from "../../store/store.ts";
import { Arguments } from "./arguments.ts";
import { readEvents, readSteps } from "./histories.ts";
import { categoryMark, levelMark, readLog } from "./log-text.ts";
import { cursor, pageOf, readCursor, wide } from "./place.ts";
import { integer, list, type Reply, text } from "./reply.ts";
import { runName } from "./run-id.ts";
import { listEventsScript, listLogsScript, listStepsScript, listWaitersScript } from "./scripts/index.ts";
import type { Session } from "./session.ts";

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
