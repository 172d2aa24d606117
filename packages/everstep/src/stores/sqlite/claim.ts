/**
 * Hands out due runs. Every workflow and lane is its own stretch of one index, read from its oldest entry: paused and
 * ended runs, sleepers and other workflows' runs are never looked at. The stretches are merged by lane and due time.
 */
import type { Claim } from "../../model/lease.ts";
import { claimed } from "../../store/apply/apply-lease.ts";
import { claimableLanes, lanes } from "../../store/apply/lane.ts";
import type { ClaimRequest } from "../../store/store.ts";
import { readBegun, readValue } from "../sql/rows/json-column.ts";
import { flag, integer, integerOrNull, type SqlRow, type SqlValue, text } from "../sql/rows/row.ts";
import { type Move, moveColumns, moveValues } from "../sql/rows/run-row.ts";
import type { Connection } from "./connection.ts";
import { limited } from "./dialect.ts";
import type { SqliteStatement } from "./driver.ts";
import { resultCode } from "./failures.ts";

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
      return found.sort(inOrder);
    },
  };
}

/** Starts come last; a lease that ran out is work under way like any other. */
function inOrder(a: Candidate, b: Candidate): number {
  const starts = Number(a.lane === lanes.starting) - Number(b.lane === lanes.starting);
  return starts || a.dueAt - b.dueAt || a.run - b.run;
}

/** Undefined for a run whose rows are damaged or gone: it is moved aside, so that it is not met again. */
function takes(connection: Connection): (candidate: Candidate, request: ClaimRequest) => Claim | undefined {
  const { db, names } = connection;
  const read = db.prepareTuples(
    `SELECT r.run_number, r.token, r.status, r.recorded, r.event_seq, r.crash_count, r.started_at, r.waiting_since, r.begun,
       i.workflow, i.instance_id, i.created_at, i.deadline_at, i.params, i.params_marks, r.last_commit
     FROM ${names.run} r JOIN ${names.instance} i ON i.id = r.instance WHERE r.id = ?`,
  );
  const statements = new Map<boolean, SqliteStatement<unknown>>();
  /** Writing the status it has already would move an entry of the list's index. */
  const take = (run: number, { status, ...rest }: ClaimMove, isActive: boolean): void => {
    const move: Move = isActive ? rest : { status, ...rest };
    let statement = statements.get(isActive);
    if (statement === undefined) {
      const set = moveColumns(move).map((column) => `${column} = ?`);
      statement = db.prepare(`UPDATE ${names.run} SET ${set.join(", ")} WHERE id = ?`);
      statements.set(isActive, statement);
    }
    statement.run(...moveValues(move), run);
  };
  const moveAside = db.prepare(`UPDATE ${names.run} SET lane = NULL WHERE id = ?`);

  return (candidate, request) => {
    const { run } = candidate;
    const found = readable(connection, () => {
      const tuple = read.get(run);
      if (tuple === undefined) return undefined;
      const row = claimRow(tuple as readonly SqlValue[]);
      return { row, ...readClaim(row, candidate, request) };
    });
    if (found === undefined) {
      moveAside.run(run);
      return undefined;
    }
    const { row, claim, move } = found;
    take(run, move, row.status === "active");
    return claim;
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
function claimRow(tuple: readonly SqlValue[]): SqlRow {
  return {
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
  } as SqlRow;
}

type ClaimMove = ReturnType<typeof claimed>["move"];

function readClaim(
  row: SqlRow,
  { run, lane, dueAt }: Candidate,
  request: ClaimRequest,
): { readonly claim: Claim; readonly move: ClaimMove } {
  const begun = readBegunIfSound(row);
  const before = {
    lane,
    dueAt,
    crashCount: integer(row, "crash_count"),
    lastCommit: integer(row, "last_commit"),
    token: integer(row, "token"),
    startedAt: integerOrNull(row, "started_at"),
  };
  const { move, left } = claimed(before, request);
  const claim: Claim = {
    workflowName: text(row, "workflow"),
    instanceId: text(row, "instance_id"),
    lease: {
      runId: run,
      token: request.token,
      owner: request.owner,
      expiresAt: request.leaseUntil,
    },
    runNumber: integer(row, "run_number"),
    params: readValue(row, "params"),
    createdAt: integer(row, "created_at"),
    startedAt: move.startedAt ?? request.now,
    deadlineAt: integerOrNull(row, "deadline_at"),
    waitingSince: integerOrNull(row, "waiting_since"),
    // A row that is damaged is not fresh: whoever reads its history is told so, and the instance ends with the reason.
    fresh: begun !== undefined && !flag(row, "recorded"),
    eventSeq: integer(row, "event_seq"),
    begun: begun ?? [],
    crashCount: move.crashCount,
    left,
  };
  return { claim, move };
}

function readBegunIfSound(row: SqlRow): Claim["begun"] | undefined {
  try {
    return readBegun(row, "begun");
  } catch {
    return undefined;
  }
}
