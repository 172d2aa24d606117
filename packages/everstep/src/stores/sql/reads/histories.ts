/** What turns read before they replay. One damaged run must not keep the others from theirs. */
import { recordBytes } from "../../../model/bytes.ts";
import { StoreError } from "../../../model/error.ts";
import { instanceStatuses } from "../../../model/instance.ts";
import { runKey } from "../../../store/apply/run-key.ts";
import { historyBytes } from "../../../store/history-bytes.ts";
import type { RunHistory, RunRead } from "../../../store/store.ts";
import { eventColumns, readEvent } from "../rows/event-row.ts";
import { readBegun } from "../rows/json-column.ts";
import { integer, type SqlRow, word } from "../rows/row.ts";
import { readStep, stepColumns } from "../rows/step-row.ts";
import type { ReadDialect } from "./dialect.ts";
import { eachKey } from "./each.ts";
import { ask, type Query, type Reading, type Rows } from "./query.ts";

export type ReadRuns = (requests: readonly RunRead[], maxBytes?: number) => Reading<readonly RunHistory[]>;

type ReadMany = (requests: readonly RunRead[]) => Query<readonly RunHistory[]>;

export function histories(dialect: ReadDialect): ReadRuns {
  const parts = historyParts(dialect);
  if (dialect.oneByOne) return oneAfterTheOther(parts);
  const readOne = oneHistory(dialect);
  const readMany = manyHistories(parts);
  const sizes = historySizes(dialect);
  const read: ReadMany = (requests) =>
    requests.length === 1 ? readOne(requests[0] as RunRead) : readMany(requests);

  return function* (requests, maxBytes) {
    if (maxBytes === undefined || requests.length < 2) return yield* ask(read(requests));
    // Asked for first: a server cannot stop in the middle of its answer.
    const bytesOf = yield* ask(sizes(requests));
    let bytes = 0;
    const fitting = requests.filter(({ runId }, at) => {
      bytes += bytesOf.get(runKey(runId)) ?? 0;
      return at === 0 || bytes <= maxBytes;
    });
    const found = yield* ask(read(fitting));
    const isRead = new Set(fitting);
    const left = requests.filter((request) => !isRead.has(request));
    return [...found, ...left.map(({ runId }): RunHistory => ({ kind: "unread", runId }))];
  };
}

/** Until they take that many bytes. */
function oneAfterTheOther({ facts, events, steps }: HistoryParts): ReadRuns {
  const readOne = (request: RunRead): Query<RunHistory | undefined> => {
    const run = runKey(request.runId);
    const keys = [[run]];
    const news = [...facts(keys), ...events([[run, request.eventsAfter]])];
    return {
      statements: request.steps ? [...news, ...steps(keys)] : news,
      read([found, events = [], steps = []]) {
        const row = found?.[0];
        return row === undefined ? undefined : historyOf(request, row, steps, events);
      },
    };
  };

  return function* (requests, maxBytes = Number.POSITIVE_INFINITY) {
    const histories: RunHistory[] = [];
    let bytes = 0;
    for (const request of requests) {
      if (bytes >= maxBytes) {
        histories.push({ kind: "unread", runId: request.runId });
        continue;
      }
      try {
        const history = (yield readOne(request)) as RunHistory | undefined;
        if (history === undefined) continue;
        if (maxBytes !== Number.POSITIVE_INFINITY) bytes += historyBytes(history);
        histories.push(history);
      } catch (error) {
        // Trouble with the database as a whole is not the fault of this run; a value that cannot be handed over is.
        if (error instanceof StoreError) throw error;
        histories.push({ kind: "unreadable", runId: request.runId, error: error as Error });
      }
    }
    return histories;
  };
}

/** What a turn that goes on after a wait mostly asks for: all that is new of a run in one statement. */
function oneHistory({ names }: ReadDialect): (request: RunRead) => Query<readonly RunHistory[]> {
  const ofEvent = columns("e", [...eventColumns.slice(1), "delivered_at", "consumed_by"]);
  const news =
    `SELECT r.id AS run, r.status, r.begun, ${ofEvent} FROM ${names.run} r ` +
    `LEFT JOIN ${names.event} e ON e.run = r.id AND e.seq > ? AND e.delivered_at IS NULL WHERE r.id = ? ORDER BY e.seq`;
  const steps = `SELECT ${columns("s", stepColumns)} FROM ${names.step} s WHERE s.run = ? ORDER BY s.step_index`;
  return (request) => {
    const run = runKey(request.runId);
    const ofRun = { sql: news, values: [request.eventsAfter, run], isPlannedOnce: true };
    return {
      statements: request.steps ? [ofRun, { sql: steps, values: [run], isPlannedOnce: true }] : [ofRun],
      read([found = [], steps = []]) {
        const [row] = found;
        if (row === undefined) return [];
        const events = found.filter(({ seq }) => seq !== null);
        return [historyOf(request, row, steps, events)];
      },
    };
  };
}

interface HistoryParts {
  readonly facts: ReturnType<typeof eachKey>;
  readonly events: ReturnType<typeof eachKey>;
  readonly steps: ReturnType<typeof eachKey>;
}

function historyParts(dialect: ReadDialect): HistoryParts {
  const { names } = dialect;
  return {
    facts: eachKey(
      dialect,
      ["run"],
      ({ from, value }) =>
        `SELECT r.id AS run, r.status, r.begun FROM ${from} ${names.run} r WHERE r.id = ${value("run")}`,
      ["run", "status", "begun"],
    ),
    events: eachKey(
      dialect,
      ["run", "seq"],
      ({ from, value }) =>
        `SELECT ${columns("e", [...eventColumns, "delivered_at", "consumed_by"])} FROM ${from} ${names.event} e ` +
        `WHERE e.run = ${value("run")} AND e.seq > ${value("seq")} AND e.delivered_at IS NULL ORDER BY e.run, e.seq`,
    ),
    steps: eachKey(
      dialect,
      ["run"],
      ({ from, value }) =>
        `SELECT ${columns("s", stepColumns)} FROM ${from} ${names.step} s ` +
        `WHERE s.run = ${value("run")} ORDER BY s.run, s.step_index`,
    ),
  };
}

/** Many in one round trip. */
function manyHistories({ facts, events, steps }: HistoryParts): ReadMany {
  return (requests) => {
    const wanted = distinct(requests);
    const withSteps = wanted.filter((request) => request.steps);
    return {
      statements: [
        ...facts(wanted.map(({ run }) => [run])),
        ...events(wanted.map(({ run, eventsAfter }) => [run, eventsAfter])),
        ...steps(withSteps.map(({ run }) => [run])),
      ],
      read([found = [], events = [], steps = []]) {
        const factsOf = new Map(found.map((row) => [integer(row, "run"), row]));
        const eventsOf = byRun(events);
        const stepsOf = byRun(steps);
        return requests.flatMap((request): RunHistory[] => {
          const run = runKey(request.runId);
          const row = factsOf.get(run);
          // A run that was removed meanwhile is left out: an empty history would be taken for one that never started.
          if (row === undefined) return [];
          const own = (eventsOf.get(run) ?? []).filter(
            (event) => integer(event, "seq") > request.eventsAfter,
          );
          return [historyOf(request, row, request.steps ? (stepsOf.get(run) ?? []) : [], own)];
        });
      },
    };
  };
}

/**
 * How many bytes the history of each run takes in memory, as `historyBytes` counts them: thousands of steps that returned
 * nothing take much too. Lengths are known without reading what is long.
 */
function historySizes(
  dialect: ReadDialect,
): (requests: readonly RunRead[]) => Query<ReadonlyMap<number, number>> {
  const { names } = dialect;
  const bytes = (alias: string, columns: readonly string[]): string =>
    `SUM(${recordBytes} + ${columns.map((column) => `COALESCE(OCTET_LENGTH(${alias}.${column}), 0)`).join(" + ")}) AS bytes`;
  const steps = eachKey(
    dialect,
    ["run"],
    ({ from, value }) =>
      `SELECT s.run, ${bytes("s", ["key", "errors", "error", "result", "result_marks"])} FROM ${from} ${names.step} s ` +
      `WHERE s.run = ${value("run")} GROUP BY s.run`,
  );
  const events = eachKey(
    dialect,
    ["run", "seq"],
    ({ from, value }) =>
      `SELECT e.run, ${bytes("e", ["payload", "payload_marks"])} FROM ${from} ${names.event} e ` +
      `WHERE e.run = ${value("run")} AND e.seq > ${value("seq")} AND e.delivered_at IS NULL GROUP BY e.run`,
  );
  return (requests) => ({
    statements: [
      ...events(requests.map(({ runId, eventsAfter }) => [runKey(runId), eventsAfter])),
      ...steps(requests.filter((request) => request.steps).map(({ runId }) => [runKey(runId)])),
    ],
    read(results) {
      const sizes = new Map<number, number>();
      for (const row of results.flat()) {
        const run = integer(row, "run");
        sizes.set(run, (sizes.get(run) ?? 0) + integer(row, "bytes"));
      }
      return sizes;
    },
  });
}

function columns(alias: string, list: readonly string[]): string {
  return list.map((column) => `${alias}.${column}`).join(", ");
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

function byRun(rows: Rows): Map<number, SqlRow[]> {
  const groups = new Map<number, SqlRow[]>();
  for (const row of rows) {
    const run = integer(row, "run");
    const group = groups.get(run);
    if (group === undefined) groups.set(run, [row]);
    else group.push(row);
  }
  return groups;
}

function historyOf({ runId }: RunRead, row: SqlRow, steps: Rows, events: Rows): RunHistory {
  try {
    word(row, "status", instanceStatuses);
    readBegun(row, "begun");
    return { kind: "history", runId, steps: steps.map(readStep), events: events.map(readEvent) };
  } catch (error) {
    return { kind: "unreadable", runId, error: error as Error };
  }
}
