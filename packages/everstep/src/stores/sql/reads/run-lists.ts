/** What belongs to one run, and who waits on a topic, page by page. */
import type { EventRecord } from "../../../model/event.ts";
import type { RunId } from "../../../model/instance.ts";
import type { StoredLogLine } from "../../../model/log-line.ts";
import type { StepRecord } from "../../../model/step.ts";
import { runKey } from "../../../store/apply/run-key.ts";
import { page, position, readPosition } from "../../../store/position.ts";
import type { LogQuery, Page, PageQuery, TopicWaiter, ValueTerms } from "../../../store/store.ts";
import { eventColumns, readEvent } from "../rows/event-row.ts";
import { logColumns, readLog } from "../rows/log-row.ts";
import { flag, integer, type SqlRow, text } from "../rows/row.ts";
import { briefStepsOf, readStep, stepColumns } from "../rows/step-row.ts";
import type { ReadDialect } from "./dialect.ts";
import type { Query } from "./query.ts";

export interface RunLists {
  steps(run: RunId, query: PageQuery & ValueTerms): Query<Page<StepRecord>>;
  events(run: RunId, query: PageQuery): Query<Page<EventRecord>>;
  logs(run: RunId, query: LogQuery): Query<Page<StoredLogLine>>;
  waiters(topic: string, query: PageQuery): Query<Page<TopicWaiter>>;
}

export function runLists(dialect: ReadDialect): RunLists {
  const { names, logColumn = (column: string) => `l.${column}` } = dialect;
  const stepsOf = (select: string) =>
    pages(dialect, { select, where: "s.run = ?", key: ["s.step_index"], item: readStep });
  const steps = stepsOf(selectOf("s", stepColumns, names.step));
  const briefSteps = stepsOf(briefStepsOf("s", names.step));
  const events = pages(dialect, {
    select: selectOf("e", [...eventColumns, "delivered_at", "consumed_by"], names.event),
    where: "e.run = ? AND e.is_system = 0",
    key: ["e.seq"],
    item: readEvent,
  });
  const logsWhere = (more: string) =>
    pages(dialect, {
      select: `SELECT ${logColumns.map(logColumn).join(", ")} FROM ${names.log} l`,
      where: `l.run = ?${more}`,
      key: ["l.seq"],
      item: readLog,
    });
  const logs = {
    all: logsWhere(""),
    level: logsWhere(" AND l.level = ?"),
    category: logsWhere(" AND l.category = ?"),
    both: logsWhere(" AND l.level = ? AND l.category = ?"),
  };
  const waiters = pages(dialect, {
    select:
      "SELECT s.run, s.step_index, s.key, s.topic, s.wake_at, r.run_number, i.workflow, i.instance_id, " +
      `${hasEvent(names.event)} ` +
      `FROM ${names.step} s ${dialect.through?.("step", "topic") ?? ""} ` +
      `JOIN ${names.run} r ON r.id = s.run JOIN ${names.instance} i ON i.id = r.instance`,
    where: "s.topic = ? AND s.is_open = 1",
    key: ["s.run", "s.step_index"],
    item: readWaiter,
  });

  return {
    steps: (run, query) => (query.brief ? briefSteps : steps)([runKey(run)], query),
    events: (run, query) => events([runKey(run)], query),
    logs(run, query) {
      const { level, category } = query;
      if (level === undefined)
        return category === undefined
          ? logs.all([runKey(run)], query)
          : logs.category([runKey(run), category], query);
      return category === undefined
        ? logs.level([runKey(run), level], query)
        : logs.both([runKey(run), level, category], query);
    },
    waiters: (topic, query) => waiters([topic], query),
  };
}

interface List<Item> {
  readonly select: string;
  /** With one `?` per value, before the place in the list is added. */
  readonly where: string;
  /** Columns that order the list. */
  readonly key: readonly string[];
  readonly item: (row: SqlRow) => Item;
}

function selectOf(alias: string, columns: readonly string[], table: string): string {
  return `SELECT ${columns.map((column) => `${alias}.${column}`).join(", ")} FROM ${table} ${alias}`;
}

/** A list in both directions, from its beginning or from a place in it. */
function pages<Item>({ limit: limited }: ReadDialect, { select, where, key, item }: List<Item>) {
  const places = key.map(() => "?").join(", ");
  const columns = key.map((column) => column.slice(2));
  const textOf = (order: "asc" | "desc") => {
    const beyond = `AND (${key.join(", ")}) ${order === "asc" ? ">" : "<"} (${places})`;
    const behind = `ORDER BY ${key.map((column) => `${column} ${order}`).join(", ")} ${limited}`;
    return {
      first: `${select} WHERE ${where} ${behind}`,
      next: `${select} WHERE ${where} ${beyond} ${behind}`,
    };
  };
  const texts = { asc: textOf("asc"), desc: textOf("desc") };
  const place = (row: SqlRow): string => position(...columns.map((column) => integer(row, column)));

  return (values: readonly unknown[], { limit, after, order = "asc" }: PageQuery): Query<Page<Item>> => {
    const from = after === undefined ? [] : readPosition(after, key.length);
    const sql = after === undefined ? texts[order].first : texts[order].next;
    return {
      statements: [{ sql, values: [...values, ...from, limit + 1] }],
      read: ([rows = []]) => page(rows, limit, item, place),
    };
  };
}

/** For a wait `s`: whether its event has come and was not delivered yet. */
function hasEvent(eventTable: string): string {
  return (
    "CASE WHEN EXISTS (" +
    `SELECT 1 FROM ${eventTable} e WHERE e.run = s.run AND e.for_step = s.key AND e.delivered_at IS NULL` +
    ") THEN 1 ELSE 0 END AS has_event"
  );
}

function readWaiter(row: SqlRow): TopicWaiter {
  return {
    workflowName: text(row, "workflow"),
    instanceId: text(row, "instance_id"),
    runNumber: integer(row, "run_number"),
    stepKey: text(row, "key"),
    topic: text(row, "topic"),
    deadlineAt: integer(row, "wake_at"),
    hasEvent: flag(row, "has_event"),
  };
}
