/** What belongs to one run, and who waits on a topic, page by page. */
import type { Store } from "../../store/store.ts";
import { readEvent } from "../sql/event-row.ts";
import { logColumns, readLog } from "../sql/log-row.ts";
import { briefStepsOf, readStep } from "../sql/step-row.ts";
import { hasEvent, readWaiter } from "../sql/waiter-row.ts";
import type { Connection } from "./connection.ts";
import { runKey } from "./hot-row.ts";
import { pagedList } from "./page-statements.ts";

type Sync<Verb extends "listSteps" | "listEvents" | "listLogs" | "listWaiters"> = (
  ...values: Parameters<Store[Verb]>
) => Awaited<ReturnType<Store[Verb]>>;

export interface RunLists {
  readonly steps: Sync<"listSteps">;
  readonly events: Sync<"listEvents">;
  readonly logs: Sync<"listLogs">;
  readonly waiters: Sync<"listWaiters">;
}

export function runLists(connection: Connection): RunLists {
  const { names } = connection;
  const bySeq = [{ column: "seq", name: "seq" }];
  const stepsOf = (select: string) =>
    pagedList(connection, {
      select,
      where: "run = ?",
      key: [{ column: "step_index", name: "step_index" }],
      item: readStep,
    });
  const wholeSteps = stepsOf(`SELECT * FROM ${names.step}`);
  const briefSteps = stepsOf(briefStepsOf("s", names.step));
  const events = pagedList(connection, {
    select: `SELECT * FROM ${names.event}`,
    where: "run = ? AND is_system = 0",
    key: bySeq,
    item: readEvent,
  });
  const logs = pagedList(connection, {
    select: `SELECT ${logColumns.map(wholeText).join(", ")} FROM ${names.log}`,
    where: "run = ? AND coalesce(? = level, 1) AND coalesce(? = category, 1)",
    key: bySeq,
    item: readLog,
  });
  const waiters = pagedList(connection, {
    select: `SELECT s.run, s.step_index, s.key, s.topic, s.wake_at, r.run_number, i.workflow, i.instance_id, ${hasEvent(names.event)}
      FROM ${names.step} s INDEXED BY ${names.step}_topic
      JOIN ${names.run} r ON r.id = s.run JOIN ${names.instance} i ON i.id = r.instance`,
    where: "s.topic = ? AND s.is_open = 1",
    key: [
      { column: "s.run", name: "run" },
      { column: "s.step_index", name: "step_index" },
    ],
    item: readWaiter,
  });

  return {
    steps: (runId, query) => (query.brief ? briefSteps : wholeSteps).read([runKey(runId)], query),
    events: (runId, query) => events.read([runKey(runId)], query),
    logs: (runId, query) => logs.read([runKey(runId), query.level ?? null, query.category ?? null], query),
    waiters: (topic, query) => waiters.read([topic], query),
  };
}

/** As bytes, because node:sqlite of Node 22 reads text only up to the first NUL, and log lines may hold anything. */
function wholeText(column: string): string {
  return ["step_key", "category", "message"].includes(column)
    ? `CAST(${column} AS BLOB) AS ${column}`
    : column;
}
