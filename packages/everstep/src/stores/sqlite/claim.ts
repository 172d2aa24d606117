/**
 * Hands out due runs. Every workflow and lane is its own stretch of one index, read from its oldest entry: paused and
 * ended runs, sleepers and other workflows' runs are never looked at. The stretches are merged by lane and due time.
 */

import type { InstanceStatus } from "../../model/instance.ts";
import type { Claim, ReturnedLease } from "../../model/lease.ts";
import { claimed, type HeldRow, released, renewed } from "../../store/apply/apply-lease.ts";
import { claimableLanes, lanes } from "../../store/apply/lane.ts";
import { runKey } from "../../store/apply/run-key.ts";
import type { ClaimRequest, RenewAnswer, Renewal } from "../../store/store.ts";
import { inClaimOrder, readClaim } from "../sql/lease/claim.ts";
import { integer, integerOrNull, type SqlValue } from "../sql/rows/row.ts";
import { type Move, moveColumns, moveValues, readBegunColumn } from "../sql/rows/run-row.ts";
import { limited } from "./dialect.ts";
import type { SqliteStatement } from "./driver.ts";
import { resultCode } from "./failures.ts";
import type { Connection } from "./session.ts";

export type ClaimRuns = (request: ClaimRequest) => readonly Claim[];

interface Candidate {
  readonly workflow: string;
  readonly run: number;
  readonly lane: number;
  readonly dueAt: number;
  /** The last one read of its stretch, with more behind it. */
  readonly hasMore: boolean;
}

// Runs whose rows are damaged are not handed out, so it looks again for others, but not for ever.
const roundsMax = 16;

export function claims(connection: Connection): ClaimRuns {
  const due = dueRuns(connection);
  const take = takes(connection);

  /** True when there may be more to hand out. */
  const claimRound = (request: ClaimRequest, rooms: Map<string, number>, taken: Claim[]): boolean => {
    for (const candidate of due.list(request, rooms, request.limit - taken.length)) {
      const room = rooms.get(candidate.workflow) ?? 0;
      if (room > 0) {
        const claim = take(candidate, request);
        if (claim !== undefined) {
          taken.push(claim);
          rooms.set(candidate.workflow, room - 1);
        }
      }
      if (taken.length === request.limit) return false;
      // What lies behind may go before the other stretches' next ones.
      if (candidate.hasMore) return true;
    }
    return false;
  };

  return (request) => {
    // An idle poll takes no write lock.
    if (request.limit <= 0 || !due.any(request)) return [];
    return connection.transactLeases(() => {
      const rooms = due.rooms(request);
      const taken: Claim[] = [];
      for (let round = 1; round <= roundsMax && claimRound(request, rooms, taken); round += 1);
      return taken;
    });
  };
}

interface DueRuns {
  any(request: ClaimRequest): boolean;
  /** How many more runs of each workflow may be leased. */
  rooms(request: ClaimRequest): Map<string, number>;
  /** In the order in which they are to be handed out. */
  list(request: ClaimRequest, rooms: ReadonlyMap<string, number>, limit: number): readonly Candidate[];
}

function dueRuns({ db, names, snapshot }: Connection): DueRuns {
  const list = db.prepareTuples(
    `SELECT id, due_at FROM ${names.run} WHERE workflow = ? AND lane = ? AND due_at <= ? ORDER BY due_at, id ${limited}`,
  );
  const inForce = db.prepareTuples(
    `SELECT count(*) FROM ${names.run} WHERE workflow = ? AND lane IN (${lanes.held}, ${lanes.heldPaused}) AND due_at > ?`,
  );

  return {
    any: ({ workflows, now }) =>
      snapshot(() =>
        workflows.some(({ name }) =>
          claimableLanes.some((lane) => list.get(name, lane, now, 1) !== undefined),
        ),
      ),

    rooms({ workflows, now }) {
      const room = (name: string, concurrency: number | null): number =>
        concurrency === null
          ? Number.POSITIVE_INFINITY
          : concurrency - (inForce.get(name, now)?.[0] as number);
      return new Map(workflows.map(({ name, concurrency }) => [name, Math.max(0, room(name, concurrency))]));
    },

    list({ now }, rooms, limit) {
      const found: Candidate[] = [];
      for (const [workflow, room] of rooms) {
        if (room === 0) continue;
        for (const lane of claimableLanes) {
          const rows = list.all(workflow, lane, now, limit);
          for (const [n, row] of rows.entries()) {
            const hasMore = n === limit - 1;
            found.push({ workflow, lane, run: row[0] as number, dueAt: row[1] as number, hasMore });
          }
        }
      }
      return found.sort(inClaimOrder);
    },
  };
}

/** Undefined for a run whose rows are damaged or gone: it is moved aside, so that it is not met again. */
function takes(connection: Connection): (candidate: Candidate, request: ClaimRequest) => Claim | undefined {
  const { db, names } = connection;
  const read = db.prepareTuples(
    `SELECT r.run_number, r.token, r.status, r.recorded, r.event_seq, r.crash_count, r.started_at, r.waiting_since, r.begun,
       i.workflow, i.instance_id, i.created_at, i.deadline_at, i.params, i.params_marks, r.last_commit
     FROM ${names.run} r JOIN ${names.instance} i ON i.id = r.instance WHERE r.id = ?`,
  );
  const statements: { any?: SqliteStatement<unknown>; active?: SqliteStatement<unknown> } = {};
  const updateOf = (columns: readonly string[]): SqliteStatement<unknown> =>
    db.prepare(`UPDATE ${names.run} SET ${columns.map((column) => `${column} = ?`).join(", ")} WHERE id = ?`);
  /** Writing the status it has already would move an entry of the list's index. */
  const take = (run: number, move: Move, isActive: boolean): void => {
    const values = moveValues(move);
    if (!isActive) {
      statements.any ??= updateOf(moveColumns(move));
      statements.any.run(...values, run);
      return;
    }
    const status = Object.keys(move).indexOf("status");
    values.splice(status, 1);
    statements.active ??= updateOf(moveColumns(move).toSpliced(status, 1));
    statements.active.run(...values, run);
  };
  const moveAside = db.prepare(`UPDATE ${names.run} SET lane = NULL WHERE id = ?`);

  return (candidate, request) => {
    const { run } = candidate;
    const found = readable(connection, () => {
      const tuple = read.get(run);
      return tuple && claimOf(claimRow(run, tuple as readonly SqlValue[]), candidate, request);
    });
    if (found === undefined) {
      moveAside.run(run);
      return undefined;
    }
    take(run, found.move, found.wasActive);
    return found.claim;
  };
}

/** Undefined when the rows make no sense. Trouble with the database as a whole is thrown on. */
function readable<Value>({ settings }: Connection, read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (resultCode(error, settings) !== undefined) throw error;
    return undefined;
  }
}

/** By name, which the library could do too, but at several times the price. */
function claimRow(run: number, tuple: readonly SqlValue[]): Record<string, unknown> {
  return {
    run,
    run_number: tuple[0],
    token: tuple[1],
    status: tuple[2],
    recorded: tuple[3],
    event_seq: tuple[4],
    crash_count: tuple[5],
    started_at: tuple[6],
    waiting_since: tuple[7],
    begun: tuple[8],
    workflow: tuple[9],
    instance_id: tuple[10],
    created_at: tuple[11],
    deadline_at: tuple[12],
    params: tuple[13],
    params_marks: tuple[14],
    last_commit: tuple[15],
    ran_out: 0,
  };
}

/** The row becomes what it is once the run is taken. */
function claimOf(row: Record<string, unknown>, { lane, dueAt }: Candidate, request: ClaimRequest) {
  const before = {
    lane,
    dueAt,
    crashCount: integer(row, "crash_count"),
    lastCommit: integer(row, "last_commit"),
    token: integer(row, "token"),
    startedAt: integerOrNull(row, "started_at"),
  };
  const { move, left } = claimed(before, request);
  row.started_at = move.startedAt;
  row.crash_count = move.crashCount;
  row.ran_out = left.ranOut;
  return { claim: readClaim(row, request), move, wasActive: row.status === "active" };
}

/** Leases that are kept alive or given back: only the columns that this looks at are read, and those it changes written. */
export interface Leases {
  renew(renewals: readonly Renewal[], until: number, now: number): readonly RenewAnswer[];
  release(leases: readonly ReturnedLease[], now: number): void;
}

export function leases({ db, names, transactLeases }: Connection): Leases {
  const read = db.prepareTuples(
    `SELECT lane, token, last_commit, event_seq, status, due_at, begun FROM ${names.run} WHERE id = ?`,
  );
  const find = (run: number): HeldRow | undefined => {
    const row = read.get(run);
    return (
      row && {
        lane: row[0] as number | null,
        token: row[1] as number,
        lastCommit: row[2] as number,
        eventSeq: row[3] as number,
        status: row[4] as InstanceStatus,
        dueAt: row[5] as number,
        begun: readBegunColumn(row[6] as string | null),
      }
    );
  };
  const updates = new Map<string, SqliteStatement<unknown>>();
  const update = (run: number, name: string, move: Move): void => {
    let statement = updates.get(name);
    if (statement === undefined) {
      const set = moveColumns(move).map((column) => `${column} = ?`);
      statement = db.prepare(`UPDATE ${names.run} SET ${set.join(", ")} WHERE id = ?`);
      updates.set(name, statement);
    }
    statement.run(...moveValues(move), run);
  };

  return {
    renew(renewals, until) {
      if (renewals.length === 0) return [];
      return transactLeases(() =>
        renewals.map((renewal): RenewAnswer => {
          const run = runKey(renewal.lease.runId);
          const row = find(run);
          const { move, answer } = renewed(row, renewal, until);
          if (row === undefined || move === null) return answer;
          // What its bodies are seldom changes, and an end of the lease that stays moves no entry of an index.
          const begins = row.begun !== move.begun && (!isNothing(row.begun) || !isNothing(move.begun));
          if (begins) update(run, "renew with bodies", move);
          else if (move.dueAt !== row.dueAt) update(run, "renew", { dueAt: move.dueAt });
          return answer;
        }),
      );
    },

    release(given, now) {
      if (given.length === 0) return;
      transactLeases(() => {
        for (const lease of given) {
          const run = runKey(lease.runId);
          const move = released(find(run), lease, now);
          if (move !== null) update(run, "release", move);
        }
      });
    },
  };
}

function isNothing(begun: HeldRow["begun"]): boolean {
  return "length" in begun && begun.length === 0;
}
