/**
 * One batch, one transaction, one answer per request. Each request is loaded, applied by the state machine (store/apply)
 * and saved before the next is looked at: a statement costs microseconds here, and what is plain needs no read at all.
 */

import { heardOfLost, type Next } from "../../model/boundary.ts";
import { EverstepError, StoreError } from "../../model/error.ts";
import { type InstanceStatus, isTerminal } from "../../model/instance.ts";
import type { LogLine } from "../../model/log-line.ts";
import { endsWait } from "../../model/wait-match.ts";
import { applyOne } from "../../store/apply/apply.ts";
import { passFence } from "../../store/apply/apply-commit.ts";
import { isEnding } from "../../store/apply/ending.ts";
import { lanes } from "../../store/apply/lane.ts";
import {
  canBeWoken,
  committed,
  ended,
  extended,
  madeDue,
  suspended,
  yielded,
} from "../../store/apply/moves.ts";
import { runKey } from "../../store/apply/run-key.ts";
import { WorkingSet } from "../../store/apply/working-set.ts";
import type {
  CommitOutcome,
  CommitRequest,
  CreateRequest,
  SendEventOutcome,
  SendEventRequest,
  StoreOutcome,
  StoreRequest,
} from "../../store/store.ts";
import { eventColumns, eventValues, idOf, isKey, sentKey } from "../sql/rows/event-row.ts";
import { type Move, moveColumns, moveValues } from "../sql/rows/run-row.ts";
import { MutationRefused } from "../sql/write/refusals.ts";
import type { SqliteStatement } from "./driver.ts";
import { loads } from "./load.ts";
import { runRows, type Savers, savers, saves } from "./save.ts";
import type { Connection } from "./session.ts";
import { mutations } from "./transactions.ts";

export type Write = (requests: readonly StoreRequest[], now: number) => readonly StoreOutcome[];

export function writes(connection: Connection): Write {
  const ids = runIds(connection);
  const rows = runRows(connection);
  const parts = savers(connection);
  const load = loads(connection, rows);
  const save = saves(connection, rows, parts);
  const mutate = mutations(connection);
  const commitQuickly = quickCommits(connection, parts);
  const sendQuickly = quickSends(connection);

  /** As if its name were free; if it is not, nothing is saved. */
  const createQuickly = (request: CreateRequest, now: number): StoreOutcome | null => {
    const set = new WorkingSet(ids.take);
    const outcome = applyOne(set, request, now);
    return save(set) ? outcome : null;
  };

  /** Null when it takes a look to know. */
  const applyQuickly = (request: StoreRequest, now: number): StoreOutcome | null => {
    if (request.kind === "commit") return commitQuickly(request, now);
    if (request.kind === "sendEvent") return sendQuickly(request, now);
    return request.kind === "create" ? createQuickly(request, now) : null;
  };

  /** An author's code does not run for a commit that is lost, or was applied before. */
  const mutateFor = (set: WorkingSet, request: CommitRequest): void => {
    if (request.mutations === null || passFence(set, request).kind !== "passed") return;
    mutate(request.mutations);
  };

  const apply = (request: StoreRequest, now: number): StoreOutcome => {
    const quick = applyQuickly(request, now);
    if (quick !== null) return quick;
    const set = new WorkingSet(ids.take);
    load(set, request);
    if (request.kind === "commit") mutateFor(set, request);
    const outcome = applyOne(set, request, now);
    save(set);
    return outcome;
  };

  return (requests, now) => {
    if (requests.length === 0) return [];
    refuseSharedMutations(requests);
    try {
      return connection.transact(() => {
        ids.reserve(countNewRuns(requests));
        return requests.map((request) => apply(request, now));
      });
    } catch (error) {
      if (error instanceof MutationRefused) return [error.outcome];
      throw error;
    }
  };
}

function countNewRuns(requests: readonly StoreRequest[]): number {
  let count = 0;
  for (const request of requests) {
    if (request.kind === "create") count += 1;
    if (request.kind === "change" && request.change.kind === "restart") count += 1;
    if (request.kind === "commit" && request.alongside.length > 0)
      for (const each of request.alongside) count += each.kind === "create" ? 1 : 0;
    if ((request.kind === "commit" || request.kind === "change") && request.announce) count += 1;
  }
  return count;
}

/** Author code that fails rolls its transaction back; nobody else's request may be in it. */
function refuseSharedMutations(requests: readonly StoreRequest[]): void {
  if (requests.length === 1) return;
  if (requests.some((request) => request.kind === "commit" && request.mutations !== null)) {
    throw new StoreError(
      "invalid",
      "MUTATION_INVALID",
      "A commit with mutations shares its write with other requests; write it alone.",
    );
  }
}

/**
 * The common commit without a read before it: the update of the hot row is the fence. It fits a run that is leased under
 * this token, not paused, at the commit before this one, and that has no event the turn has not seen; then nothing else
 * needs to be known of it. What does not fit, or concerns more than its run, goes the long way.
 *
 * Null when it was not applied.
 */
type QuickCommit = (request: CommitRequest, now: number) => CommitOutcome | null;

function quickCommits(connection: Connection, savers: Savers): QuickCommit {
  const { steps, saveEnding, saveLog, consume } = savers;
  const { db, names } = connection;
  const update = updates(connection);
  const eventId = db.prepareTuples(`SELECT id FROM ${names.event} WHERE run = ? AND seq = ?`);
  const logSeq = db.prepareTuples(`SELECT log_seq FROM ${names.run} WHERE id = ?`);

  const idOfEvent = (run: number, seq: number): string | undefined => {
    const found = eventId.get(run, seq);
    return found && idOf(found[0] as string);
  };
  const saveLogs = (run: number, lines: readonly LogLine[]): void => {
    const before = (logSeq.get(run)?.[0] as number) - lines.length;
    for (const [n, line] of lines.entries()) saveLog(run, before + 1 + n, line);
  };

  return (request, now) => {
    if (!isPlain(request)) return null;
    const { lease, boundary } = request;
    const { next, eventSeqSeen: eventSeq, logs } = boundary;
    const run = runKey(lease.runId);
    if (boundary.heard !== undefined && heardOfLost(boundary, (seq) => idOfEvent(run, seq))) return null;
    if (!update(request, moveOf(request, now), run)) return null;
    for (const step of boundary.steps) steps.put(run, step);
    for (const { seq, stepKey } of boundary.consumed) consume(run, seq, stepKey, now);
    if (logs.length > 0) saveLogs(run, logs);
    if (isEnding(next)) {
      saveEnding(run, next, now);
      steps.close(run);
    }
    return { kind: "committed", eventSeq, timeoutsRefused: false, dueNow: false };
  };
}

/** What becomes of the run, as if it had no lines in its log, no end of its lease and no retention: those are in the row. */
function moveOf(request: CommitRequest, now: number): Move {
  const { boundary } = request;
  const move = moveOnward(request, now);
  return boundary.logs.length === 0 ? move : { ...move, logSeq: boundary.logs.length };
}

function moveOnward({ boundary, leaseUntil }: CommitRequest, now: number): Move {
  const { next } = boundary;
  const move = committed(noCrashes, boundary, now);
  switch (next.kind) {
    case "continue":
      // A new end of the lease moves an index entry; a runner that leaves it alone for a while commits cheaper.
      return leaseUntil === 0 ? move : { ...move, ...extended(noLease, leaseUntil) };
    case "suspend":
      return { ...move, ...suspended(next.task, next.dueAt, now) };
    case "yield":
      return { ...move, ...yielded(next.dueAt) };
    default:
      return { ...move, ...ended(next, 0, now) };
  }
}

const noCrashes = { crashCount: 0 };
const noLease = { dueAt: 0 };

/** Applies a move if the row fits; true when it did. */
type Update = (request: CommitRequest, move: Move, run: number) => boolean;

function updates({ db, names }: Connection): Update {
  const fence = `id = ? AND token = ? AND last_commit = ? AND lane = ${lanes.held} AND status = 'active' AND event_seq = ?`;
  const sums: Readonly<Record<string, string>> = {
    log_seq: "log_seq = log_seq + ?",
    prune_at: `prune_at = ? + (SELECT retention_ms FROM ${names.instance} WHERE id = instance)`,
  };
  const prepare = (move: Move, next: Next): SqliteStatement<unknown> => {
    const isExtended = next.kind === "continue";
    const set = moveColumns(move).map((column) =>
      isExtended && column === "due_at" ? "due_at = max(due_at, ?)" : (sums[column] ?? `${column} = ?`),
    );
    return db.prepare(`UPDATE ${names.run} SET ${set.join(", ")} WHERE ${fence}`);
  };
  const prepared = new Map<string, SqliteStatement<unknown>>();
  return ({ lease, boundary: { number, next, logs, eventSeqSeen }, leaseUntil }, move, run) => {
    const kind = next.kind === "continue" && leaseUntil === 0 ? "keep" : next.kind;
    const shape = logs.length === 0 ? kind : `${kind} and log`;
    let statement = prepared.get(shape);
    if (statement === undefined) {
      statement = prepare(move, next);
      prepared.set(shape, statement);
    }
    const values = moveValues(move);
    values.push(run, lease.token, number - 1, eventSeqSeen);
    return statement.run(...values).changes > 0;
  };
}

/** Nothing but its own run's rows is concerned, and of those nothing has to be known first. */
function isPlain({ boundary, alongside, mutations, announce }: CommitRequest): boolean {
  const { timeouts, after, noProgress } = boundary;
  if (mutations !== null || announce !== undefined || alongside.length > 0) return false;
  return after === undefined && noProgress === undefined && timeouts.length === 0;
}

/**
 * The common event with as little read as can be: for an instance that is there and has not ended, under an id that is new
 * and with a buffer that cannot be full. What does not fit goes the long way.
 *
 * Null when it was not accepted.
 */
type QuickSend = (request: SendEventRequest, now: number) => SendEventOutcome | null;

function quickSends({ db, names }: Connection): QuickSend {
  const find = db.prepareTuples(
    `SELECT r.id, r.instance, r.status, r.lane, r.due_at, r.crash_count, r.event_seq
     FROM ${names.instance} i JOIN ${names.run} r ON r.id = i.run WHERE i.workflow = ? AND i.instance_id = ?`,
  );
  // Of an earlier version, kept under its id alone.
  const older = db.prepareTuples(`SELECT 1 FROM ${names.event} WHERE id = ?`);
  const open = db.prepareTuples(
    `SELECT key, event_type, wake_at FROM ${names.step} INDEXED BY ${names.step}_open WHERE run = ? AND is_open = 1`,
  );
  const insert = db.prepare(
    `INSERT INTO ${names.event} (${eventColumns.join(", ")}) VALUES (${eventColumns.map(() => "?").join(", ")})
     ON CONFLICT (id) DO NOTHING`,
  );
  const updateOf = (move: Move): SqliteStatement<unknown> =>
    db.prepare(
      `UPDATE ${names.run} SET ${moveColumns(move)
        .map((column) => `${column} = ?`)
        .join(", ")} WHERE id = ?`,
    );
  const count = updateOf({ eventSeq: 0 });
  const wake = updateOf({ eventSeq: 0, ...madeDue({ dueAt: 0 }, "wake", 0) });

  const isAwaited = (run: number, event: SendEventRequest): boolean =>
    open.all(run).some((row) =>
      endsWait(event, {
        key: row[0] as string,
        eventType: row[1] as string | null,
        wakeAt: row[2] as number,
      }),
    );

  return (request, now) => {
    const found = request.logs === undefined && find.get(request.workflowName, request.instanceId);
    if (!found) return null;
    const [run, instance, status, lane, dueAt, crashCount, eventSeq] = found as HotRow;
    const canBeFull = !request.system && eventSeq >= request.bufferMax;
    if (isTerminal(status) || canBeFull) return null;
    if (!isKey(request.id) && older.get(request.id) !== undefined) return null;

    const woke = canBeWoken({ lane, status, crashCount }) && isAwaited(run, request);
    const seq = eventSeq + 1;
    const { type, forStep, system, payload, createdAt } = request;
    const id = sentKey(instance, request.id);
    const event = { seq, id, type, topic: null, forStep, system, payload, createdAt };
    if (insert.run(...eventValues(run, event)).changes === 0) return null;
    if (woke) wake.run(...moveValues({ eventSeq: seq, ...madeDue({ dueAt }, "wake", now) }), run);
    else count.run(seq, run);
    return { kind: "accepted", runId: run, status, duplicate: false, woke };
  };
}

type HotRow = readonly [
  run: number,
  instance: number,
  status: InstanceStatus,
  lane: number | null,
  dueAt: number,
  crashCount: number,
  eventSeq: number,
];

/** Ids of runs: they only grow and are never used again, also after the newest run was removed. */
interface RunIds {
  /** Sets aside as many ids as the transaction at hand can need; those it does not take are lost. */
  reserve(count: number): void;
  take(): number;
}

function runIds({ db, names }: Connection): RunIds {
  const advance = db.prepareTuples(
    `UPDATE ${names.meta} SET value = value + ? WHERE name = 'last_run' RETURNING value`,
  );
  let last = 0;
  let taken = 0;
  return {
    reserve(count) {
      last = count === 0 ? 0 : (advance.get(count)?.[0] as number);
      taken = last - count;
    },
    take() {
      if (taken === last)
        throw new EverstepError("STORE_FAILED", "More runs were begun than ids were set aside.");
      taken += 1;
      return taken;
    },
  };
}
