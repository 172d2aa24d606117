/** What belongs to one run, and who waits on a topic, page by page. */
import type { LogQuery, Page, PageQuery, Store, ValueTerms } from "../../store/store.ts";
import type { Dialect } from "./dialect.ts";
import { eventColumns, readEvent } from "./event-row.ts";
import { logColumns, readLog } from "./log-row.ts";
import { page, position, readPosition } from "./position.ts";
import { integer, type SqlRow } from "./row.ts";
import { runKey } from "./run-key.ts";
import type { Database } from "./session.ts";
import { briefStepsOf, readStep, stepColumns } from "./step-row.ts";
import { hasEvent, readWaiter } from "./waiter-row.ts";

export type RunLists = Pick<Store, "listSteps" | "listEvents" | "listLogs" | "listWaiters">;

export function runLists(database: Database, { names }: Dialect): RunLists {
  const steps = ({ brief }: ValueTerms): List => ({
    select: brief ? briefStepsOf("s", names.step) : selectOf("s", stepColumns, names.step),
    where: "s.run = ?",
    key: ["s.step_index"],
  });
  const events: List = {
    select: selectOf("e", [...eventColumns, "delivered_at", "consumed_by"], names.event),
    where: "e.run = ? AND e.is_system = 0",
    key: ["e.seq"],
  };
  const waiters: List = {
    select:
      "SELECT s.run, s.step_index, s.key, s.topic, s.wake_at, r.run_number, i.workflow, i.instance_id, " +
      `${hasEvent(names.event)} ` +
      `FROM ${names.step} s JOIN ${names.run} r ON r.id = s.run JOIN ${names.instance} i ON i.id = r.instance`,
    where: "s.topic = ? AND s.is_open = 1",
    key: ["s.run", "s.step_index"],
  };
  const logs = ({ level, category }: LogQuery): List => ({
    select: selectOf("l", logColumns, names.log),
    where: `l.run = ?${level === undefined ? "" : " AND l.level = ?"}${category === undefined ? "" : " AND l.category = ?"}`,
    key: ["l.seq"],
  });

  const read = async <Item>(
    list: List,
    values: readonly unknown[],
    query: PageQuery,
    item: (row: SqlRow) => Item,
  ): Promise<Page<Item>> => {
    const [result] = await database.run([pageStatement(list, values, query)]);
    const place = (row: SqlRow): string =>
      position(...list.key.map((column) => integer(row, column.slice(2))));
    return page(result?.rows ?? [], query.limit, item, place);
  };

  return {
    listSteps: (runId, query) => read(steps(query), [runKey(runId)], query, readStep),
    listEvents: (runId, query) => read(events, [runKey(runId)], query, readEvent),
    listLogs(runId, query) {
      const { level, category } = query;
      const wanted = [level, category].filter((word) => word !== undefined);
      return read(logs(query), [runKey(runId), ...wanted], query, readLog);
    },
    listWaiters: (topic, query) => read(waiters, [topic], query, readWaiter),
  };
}

interface List {
  readonly select: string;
  /** With one `?` per value, before the place in the list is added. */
  readonly where: string;
  /** Columns that order the list. */
  readonly key: readonly string[];
}

export function selectOf(alias: string, columns: readonly string[], table: string): string {
  return `SELECT ${columns.map((column) => `${alias}.${column}`).join(", ")} FROM ${table} ${alias}`;
}

function pageStatement(list: List, values: readonly unknown[], { limit, after, order = "asc" }: PageQuery) {
  const { select, where, key } = list;
  const from = after === undefined ? [] : readPosition(after, key.length);
  const places = key.map(() => "?").join(", ");
  const beyond =
    from.length === 0 ? "" : ` AND (${key.join(", ")}) ${order === "asc" ? ">" : "<"} (${places})`;
  const ordered = key.map((column) => `${column} ${order}`).join(", ");
  return {
    sql: `${select} WHERE ${where}${beyond} ORDER BY ${ordered} LIMIT ?`,
    values: [...values, ...from, limit + 1],
  };
}
