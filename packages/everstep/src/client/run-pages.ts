/** What belongs to one run, page by page: its steps with its events, and its log. */

import type { LogsOptions } from "../handles/options.ts";
import { eventBytes, logBytes, stepBytes } from "../model/bytes.ts";
import { EverstepError } from "../model/error.ts";
import type { InstanceRecord } from "../model/instance.ts";
import type { Limits } from "../model/limits.ts";
import { logLevels } from "../model/log-line.ts";
import type { LogQuery, PageQuery } from "../store/store.ts";
import type { HistoryPage, HistoryView, LogLineView } from "../wire/index.ts";
import type { HistoryPageOptions } from "../wire/options.ts";
import type { PageView } from "../wire/page.ts";
import type { AppParts } from "./app-parts.ts";
import { pageQuery, pageView, readWithin } from "./paging.ts";
import { eventView, logLineView, type MayShow, stepView } from "./views.ts";

type Run = Pick<InstanceRecord, "runId" | "runNumber">;
type Reads = Pick<AppParts, "reads">;

export async function historyPage(
  { runId, runNumber }: Run,
  { stepsCursor, eventsCursor, pageSize, order = "asc" }: HistoryPageOptions,
  limits: Limits,
  { reads }: Reads,
  mayShow: MayShow,
): Promise<HistoryView> {
  const stepsQuery = pageQuery("steps", { pageSize, order, cursor: stepsCursor }, limits);
  const eventsQuery = pageQuery("events", { pageSize, order, cursor: eventsCursor }, limits);
  const listSteps = (query: PageQuery) => reads.listSteps(runId, query);
  const listEvents = (query: PageQuery) => reads.listEvents(runId, query);
  const steps = await readWithin(listSteps, stepsQuery, stepBytes, limits.maxPageBytes);
  const events = await readWithin(listEvents, eventsQuery, eventBytes, limits.maxPageBytes);
  const stepsPage = pageView("steps", steps, (step) => stepView(step, mayShow));
  const eventsPage = pageView("events", events, eventView);
  return {
    runNumber,
    steps: stepsPage.items,
    ...(stepsPage.cursor ? { stepsCursor: stepsPage.cursor } : {}),
    stepsHasNextPage: stepsPage.hasNextPage,
    events: eventsPage.items,
    ...(eventsPage.cursor ? { eventsCursor: eventsPage.cursor } : {}),
    eventsHasNextPage: eventsPage.hasNextPage,
  };
}

/** The same with a page of the log, of the run whose steps are shown, whatever was restarted meanwhile. */
export async function withLogs(
  history: HistoryView,
  { pageSize, order, logsCursor, logLevel, logCategory }: HistoryPageOptions,
  logs: (options: LogsOptions) => Promise<PageView<LogLineView>>,
): Promise<HistoryPage> {
  const { items, cursor, hasNextPage } = await logs({
    runNumber: history.runNumber,
    pageSize,
    order,
    cursor: logsCursor,
    level: logLevel,
    category: logCategory,
  });
  return {
    ...history,
    logs: items,
    ...(cursor === undefined ? {} : { logsCursor: cursor }),
    logsHasNextPage: hasNextPage,
  };
}

/** Which run is meant, and which of its lines. */
export interface LogsQuery {
  readonly runNumber: number | undefined;
  readonly lines: LogQuery;
}

export function logsQuery(options: LogsOptions, limits: Limits): LogsQuery {
  const { level, category } = options;
  if (level !== undefined && !logLevels.includes(level)) {
    throw new EverstepError(
      "INVALID_ARGUMENT",
      `level is ${String(level)}; use one of ${logLevels.join(", ")}.`,
    );
  }
  if (category !== undefined && typeof category !== "string") {
    throw new EverstepError("INVALID_ARGUMENT", `category is a ${typeof category}; it is text.`);
  }
  const after = options.after === undefined ? undefined : lineOf(options.after);
  return {
    runNumber: after?.runNumber ?? options.runNumber,
    lines: {
      ...pageQuery("logs", { order: "asc", ...options }, limits),
      ...(after === undefined ? {} : { after: after.seq }),
      ...(level === undefined ? {} : { level }),
      ...(category === undefined ? {} : { category }),
    },
  };
}

export async function logsPage(
  { runId, runNumber }: Run,
  { lines }: LogsQuery,
  limits: Limits,
  { reads }: Reads,
): Promise<PageView<LogLineView>> {
  const read = (query: PageQuery) => reads.listLogs(runId, { ...lines, ...query });
  const page = await readWithin(read, lines, logBytes, limits.maxPageBytes);
  return pageView("logs", page, (line) => logLineView(line, runNumber));
}

/** The id of a log line says where it is: `2-17` is the line with sequence number 17 of run 2. */
function lineOf(id: string): { readonly runNumber: number; readonly seq: string } {
  const [, runNumber, seq] = /^([1-9]\d{0,15})-(\d{1,16})$/.exec(id) ?? [];
  if (runNumber !== undefined && seq !== undefined) return { runNumber: Number(runNumber), seq };
  throw new EverstepError(
    "INVALID_CURSOR",
    `${JSON.stringify(String(id).slice(0, 64))} is no id of a log line.`,
  );
}
