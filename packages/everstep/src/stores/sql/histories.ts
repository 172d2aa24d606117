/** What turns read before they replay, for many runs in one round trip. One damaged run must not keep the others from theirs. */
import { instanceStatuses } from "../../model/instance.ts";
import { runKey } from "../../store/apply/run-key.ts";
import type { RunHistory, RunRead } from "../../store/store.ts";
import type { Dialect, Part } from "./dialect.ts";
import { eventColumns, readEvent } from "./event-row.ts";
import { historySizes } from "./history-sizes.ts";
import { readBegun } from "./json-column.ts";
import { integer, type SqlRow, word } from "./row.ts";
import type { Database, Statement } from "./session.ts";
import { readStep, stepColumns } from "./step-row.ts";

export type ReadRuns = (requests: readonly RunRead[], bytesMax?: number) => Promise<readonly RunHistory[]>;

/** Runs whose histories fit into that many bytes, asked for first: a server cannot stop in the middle of its answer. */
export function histories(database: Database, dialect: Dialect): ReadRuns {
  const read = wholeHistories(database, dialect);
  const sizes = historySizes(database, dialect);
  return async (requests, bytesMax) => {
    if (bytesMax === undefined || requests.length < 2) return read(requests);
    const bytesOf = await sizes(requests);
    let bytes = 0;
    const fitting = requests.filter(({ runId }, at) => {
      bytes += bytesOf.get(runKey(runId)) ?? 0;
      return at === 0 || bytes <= bytesMax;
    });
    const found = await read(fitting);
    const isRead = new Set(fitting);
    const left = requests.filter((request) => !isRead.has(request));
    return [...found, ...left.map(({ runId }): RunHistory => ({ kind: "unread", runId }))];
  };
}

function wholeHistories(
  database: Database,
  dialect: Dialect,
): (requests: readonly RunRead[]) => Promise<readonly RunHistory[]> {
  const { names } = dialect;
  const runs = dialect.parameters("v", ["run"]);
  const after = dialect.parameters("v", ["run", "seq"]);
  const columns = (alias: string, list: readonly string[]): string =>
    list.map((column) => `${alias}.${column}`).join(", ");

  const facts = ({ sql, values }: Part): Statement => ({
    sql: `SELECT r.id AS run, r.status, r.begun FROM ${sql} JOIN ${names.run} r ON r.id = v.run`,
    values,
  });
  const steps = ({ sql, values }: Part): Statement => ({
    sql: `SELECT ${columns("s", stepColumns)} FROM ${sql} JOIN ${names.step} s ON s.run = v.run ORDER BY s.run, s.step_index`,
    values,
  });
  const events = ({ sql, values }: Part): Statement => ({
    sql:
      `SELECT ${columns("e", [...eventColumns, "delivered_at", "consumed_by"])} FROM ${sql} ` +
      `JOIN ${names.event} e ON e.run = v.run AND e.seq > v.seq WHERE e.delivered_at IS NULL ORDER BY e.run, e.seq`,
    values,
  });

  const readOne = oneHistory(database, dialect);

  return async (requests) => {
    const [first] = requests;
    if (first === undefined) return [];
    if (requests.length === 1) return readOne(first);
    const wanted = distinct(requests);
    const withSteps = wanted.filter((request) => request.steps);
    const [found, events_, steps_] = await database.run([
      facts(runs(wanted.map(({ run }) => [run]))),
      events(after(wanted.map(({ run, eventsAfter }) => [run, eventsAfter]))),
      ...(withSteps.length === 0 ? [] : [steps(runs(withSteps.map(({ run }) => [run])))]),
    ]);
    const factsOf = new Map(found?.rows.map((row) => [integer(row, "run"), row]));
    const eventsOf = byRun(events_?.rows ?? []);
    const stepsOf = byRun(steps_?.rows ?? []);
    return requests.flatMap((request): RunHistory[] => {
      const run = runKey(request.runId);
      const row = factsOf.get(run);
      // A run that was removed meanwhile is left out: an empty history would be taken for one that never started.
      if (row === undefined) return [];
      const own = (eventsOf.get(run) ?? []).filter((event) => integer(event, "seq") > request.eventsAfter);
      return [historyOf(request, row, request.steps ? (stepsOf.get(run) ?? []) : [], own)];
    });
  };
}

/** The same for one run, which is what a turn that goes on after a wait mostly asks for: all that is new of it in one statement. */
function oneHistory(
  database: Database,
  { names }: Dialect,
): (request: RunRead) => Promise<readonly RunHistory[]> {
  const event = [...eventColumns.slice(1), "delivered_at", "consumed_by"].map((column) => `e.${column}`);
  const news =
    `SELECT r.id AS run, r.status, r.begun, ${event.join(", ")} FROM ${names.run} r ` +
    `LEFT JOIN ${names.event} e ON e.run = r.id AND e.seq > ? AND e.delivered_at IS NULL WHERE r.id = ? ORDER BY e.seq`;
  const steps = `SELECT ${stepColumns.map((column) => `s.${column}`).join(", ")} FROM ${names.step} s WHERE s.run = ? ORDER BY s.step_index`;
  return async (request) => {
    const run = runKey(request.runId);
    const [found, steps_] = await database.run([
      { sql: news, values: [request.eventsAfter, run], isPlannedOnce: true },
      ...(request.steps ? [{ sql: steps, values: [run], isPlannedOnce: true }] : []),
    ]);
    const [row] = found?.rows ?? [];
    if (row === undefined) return [];
    const events = found?.rows.filter(({ seq }) => seq !== null) ?? [];
    return [historyOf(request, row, steps_?.rows ?? [], events)];
  };
}

/** The same run may be asked for twice; rows are asked for once. */
function distinct(requests: readonly RunRead[]) {
  const wanted = new Map<number, { run: number; steps: boolean; eventsAfter: number }>();
  for (const { runId, steps, eventsAfter } of requests) {
    const run = runKey(runId);
    const before = wanted.get(run) ?? { run, steps, eventsAfter };
    wanted.set(run, {
      run,
      steps: before.steps || steps,
      eventsAfter: Math.min(before.eventsAfter, eventsAfter),
    });
  }
  return [...wanted.values()];
}

function byRun(rows: readonly SqlRow[]): Map<number, SqlRow[]> {
  const groups = new Map<number, SqlRow[]>();
  for (const row of rows) {
    const run = integer(row, "run");
    const group = groups.get(run);
    if (group === undefined) groups.set(run, [row]);
    else group.push(row);
  }
  return groups;
}

function historyOf(
  { runId }: RunRead,
  row: SqlRow,
  steps: readonly SqlRow[],
  events: readonly SqlRow[],
): RunHistory {
  try {
    word(row, "status", instanceStatuses);
    readBegun(row, "begun");
    return { kind: "history", runId, steps: steps.map(readStep), events: events.map(readEvent) };
  } catch (error) {
    return { kind: "unreadable", runId, error: error as Error };
  }
}
