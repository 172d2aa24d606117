/**
 * Hands out due runs. Every workflow and lane is its own stretch of one index, read from its oldest entry; runs that
 * others are about to take are passed over. Two request trips: lock what is due, then take it and commit. While nothing is
 * due it is one, which locks nothing.
 *
 * Of a workflow with a limit one claims at a time. Nobody waits for another's claim, which may have stopped half-way and be
 * in the way of every workflow then: that workflow is left out, and asked for again soon if there was nothing else.
 */
import { crashesAfter, provesCrash } from "../../model/lease.ts";
import { claimableLanes, lanes } from "../../store/apply/lane.ts";
import type { ClaimRequest } from "../../store/store.ts";
import { crashesText, excusedFrom, inClaimOrder } from "../sql/lease/claim.ts";
import { integer, type SqlRow, text } from "../sql/rows/row.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { Database, Statement, Transaction } from "../sql/session.ts";
import { byKey } from "./statements.ts";

export interface Claims {
  claim(database: Database, request: ClaimRequest): Promise<readonly SqlRow[]>;
  /** Something is due: the next claim need not look before it locks. */
  expectWork(): void;
}

interface Taken {
  readonly rows: readonly SqlRow[];
  /** Workflows with a limit that have room and due runs, and whose turn to claim somebody else has. */
  readonly leftOut: readonly string[];
  /** Of these, those that have no row yet to lock; nothing is taken before they have. */
  readonly unknown: readonly string[];
}

const nothing: readonly SqlRow[] = [];

/** A claim takes a few milliseconds, unless its process has stopped. */
const attemptsMax = 24;
const pauseMsMax = 8;

export function claims(names: TableNames): Claims {
  const statements = claimStatements(names);
  // Who found something the last time will probably find more.
  let expectsWork = false;

  const isAnyDue = async (database: Database, request: ClaimRequest): Promise<boolean> => {
    const [due, held] = await database.run([statements.due(request), ...statements.held(request)]);
    const rooms = roomsOf(request, held?.rows ?? []);
    return (due?.rows ?? []).some(({ workflow }) => (rooms.get(String(workflow)) ?? 0) > 0);
  };

  const lockAndChoose = async (
    tx: Transaction,
    request: ClaimRequest,
  ): Promise<Omit<Taken, "rows"> & { readonly chosen: readonly Candidate[] }> => {
    const limited = withLimit(request);
    const caps = statements.caps(request);
    const held = statements.held(request);
    const results = await tx.run([...caps, ...held, ...statements.stretches(request)]);
    const isThere = (at: number): boolean => (results[at]?.rows.length ?? 0) > 0;
    const others = limited.filter((_name, n) => !isThere(2 * n + 1));
    const rooms = roomsOf(request, held.length === 0 ? [] : (results[caps.length]?.rows ?? []));
    const found = results.slice(caps.length + held.length).flatMap(({ rows }) => readCandidates(rows));
    const due = new Set(found.map(({ workflow }) => workflow));
    const leftOut = others.filter((name) => due.has(name) && (rooms.get(name) ?? 0) > 0);
    for (const name of others) rooms.set(name, 0);
    const unknown = leftOut.filter((name) => !isThere(2 * limited.indexOf(name)));
    return { leftOut, unknown, chosen: choose(request, rooms, found) };
  };

  const take = (database: Database, request: ClaimRequest): Promise<Taken> =>
    database.transact(async (tx) => {
      const { chosen, ...left } = await lockAndChoose(tx, request);
      if (chosen.length === 0 || left.unknown.length > 0) return { rows: nothing, ...left };
      const workflows = new Set(chosen.map(({ workflow }) => workflow));
      const caps = withLimit(request).filter((name) => workflows.has(name));
      const [instances] = await tx.commit([
        statements.instances(chosen),
        ...statements.countCaps(caps),
        statements.take(request, chosen),
      ]);
      const byId = new Map(instances?.rows.map((row) => [row.id, row]));
      const rows = chosen.map(({ row }) => ({
        ...row,
        ...(byId.get(row.instance) ?? statements.noInstance),
      }));
      return { rows, ...left };
    });

  /** Who gets nothing because others claim just now asks again. */
  const takePatiently = async (database: Database, request: ClaimRequest): Promise<readonly SqlRow[]> => {
    for (let attempt = 1; ; attempt += 1) {
      const { rows, leftOut, unknown } = await take(database, request);
      if (unknown.length > 0) await database.run(statements.addCaps(unknown));
      if (rows.length > 0 || leftOut.length === 0 || attempt === attemptsMax) return rows;
      if (unknown.length === 0) await database.run([statements.pause(pauseMsMax)]);
    }
  };

  return {
    async claim(database, request) {
      if (request.workflows.length === 0 || request.limit <= 0) return nothing;
      const looksFirst = !expectsWork;
      expectsWork = false;
      if (looksFirst && !(await isAnyDue(database, request))) return nothing;
      const claimed = await takePatiently(database, request);
      if (claimed.length > 0) expectsWork = true;
      return claimed;
    },

    expectWork() {
      expectsWork = true;
    },
  };
}

/**
 * Which of the runs found due are handed out: pure.
 *
 * A run that is due and locked.
 */
interface Candidate {
  readonly run: number;
  readonly workflow: string;
  readonly lane: number;
  readonly dueAt: number;
  readonly row: SqlRow;
}

export function readCandidates(rows: readonly SqlRow[]): readonly Candidate[] {
  return rows.map((row) => ({
    run: integer(row, "run"),
    workflow: text(row, "workflow"),
    lane: integer(row, "lane"),
    dueAt: integer(row, "due_at"),
    row,
  }));
}

/** How many more runs of each workflow may be leased. `held` counts those that are, of workflows with a limit. */
export function roomsOf({ workflows }: ClaimRequest, held: readonly SqlRow[]): Map<string, number> {
  const leased = new Map(held.map((row) => [text(row, "workflow"), integer(row, "held")]));
  return new Map(
    workflows.map(({ name, concurrency }) => {
      const room = concurrency === null ? Number.POSITIVE_INFINITY : concurrency - (leased.get(name) ?? 0);
      return [name, room];
    }),
  );
}

/** In the order in which they are handed out; their rows as `Dialect.claim` gives them. */
export function choose(
  request: ClaimRequest,
  rooms: Map<string, number>,
  candidates: readonly Candidate[],
): readonly Candidate[] {
  const taken: Candidate[] = [];
  for (const candidate of candidates.toSorted(inClaimOrder)) {
    if (taken.length === request.limit) break;
    const room = rooms.get(candidate.workflow) ?? 0;
    if (room <= 0) continue;
    taken.push(asTaken(candidate, request));
    rooms.set(candidate.workflow, room - 1);
  }
  return taken;
}

function asTaken(candidate: Candidate, request: ClaimRequest): Candidate {
  const { row, lane, dueAt } = candidate;
  const ranOut = lane === lanes.held;
  const before = integer(row, "crash_count");
  const counts = ranOut && provesCrash(dueAt, request);
  const crashes = counts ? crashesAfter(before, integer(row, "last_commit")) : before;
  const started = row.started_at ?? request.now;
  return {
    ...candidate,
    row: { ...row, ran_out: ranOut ? 1 : 0, crash_count: crashes, started_at: started },
  };
}

interface ClaimStatements {
  /** Workflows of which something is due; locks nothing. */
  due(request: ClaimRequest): Statement;
  /** Leases in force of workflows with a limit. None when there is no such workflow. */
  held(request: ClaimRequest): readonly Statement[];
  /**
   * Who claims runs of a workflow with a limit does so alone, or two would find the same room. Two statements for each such
   * workflow: whether its row is there, and the row itself, locked unless somebody else has it.
   */
  caps(request: ClaimRequest): readonly Statement[];
  addCaps(workflows: readonly string[]): readonly Statement[];
  /** Makes a claim of theirs a write: of two nodes of Galera, which do not see each other's locks, the second is refused. */
  countCaps(workflows: readonly string[]): readonly Statement[];
  /** For any time up to that, so that nobody keeps step with another. */
  pause(msMax: number): Statement;
  /** The oldest due runs of each workflow and lane, locked. */
  stretches(request: ClaimRequest): readonly Statement[];
  instances(taken: readonly Candidate[]): Statement;
  take(request: ClaimRequest, taken: readonly Candidate[]): Statement;
  /** What stands for the columns of an instance that is not there. */
  readonly noInstance: SqlRow;
}

const instanceColumns = ["workflow", "instance_id", "created_at", "deadline_at", "params", "params_marks"];

function claimStatements(names: TableNames): ClaimStatements {
  const run = `${names.run} r FORCE INDEX (\`claim\`)`;
  const stretch = `SELECT r.id AS run, r.instance, r.workflow, r.lane, r.due_at, r.run_number, r.token, r.last_commit,
      r.recorded, r.event_seq, r.crash_count, r.started_at, r.waiting_since, r.begun
    FROM ${run} WHERE r.workflow = ? AND r.lane = ? AND r.due_at <= ?
    ORDER BY r.due_at, r.id LIMIT ? FOR UPDATE SKIP LOCKED`;
  const due = `SELECT ? AS workflow FROM DUAL WHERE ${claimableLanes
    .map(
      (lane) => `EXISTS (SELECT 1 FROM ${run} WHERE r.workflow = ? AND r.lane = ${lane} AND r.due_at <= ?)`,
    )
    .join(" OR ")}`;
  const held = `SELECT r.workflow, COUNT(*) AS held FROM ${run}
    WHERE r.workflow IN (?) AND r.lane IN (${lanes.held}, ${lanes.heldPaused}) AND r.due_at > ? GROUP BY r.workflow`;
  const capName = "CONCAT('cap ', SHA1(?))";
  const cap = `SELECT ? AS workflow FROM ${names.meta} m WHERE m.name = ${capName}`;
  const addCap = `INSERT INTO ${names.meta} (name, value) VALUES (${capName}, 0) ON DUPLICATE KEY UPDATE value = value`;
  const countCap = `UPDATE ${names.meta} SET value = value + 1 WHERE name = ${capName}`;
  const instances = `SELECT i.id, ${instanceColumns.map((column) => `i.${column}`).join(", ")}
    FROM ${names.instance} i WHERE i.id IN (?)`;
  // Assignments are made one after the other: what depends on the lane comes before it.
  const take = `UPDATE ${names.run} r ${byKey} SET
      r.crash_count = ${crashesText("r", "?")}, r.lane = ${lanes.held}, r.kind = 'resume', r.status = 'active', r.token = ?, r.last_commit = 0, r.owner = ?, r.due_at = ?,
      r.started_at = COALESCE(r.started_at, ?), r.waiting_since = NULL, r.updated_at = ?
    WHERE r.id IN (?)`;

  return {
    noInstance: Object.fromEntries(instanceColumns.map((column) => [column, null])),

    due: ({ workflows, now }) => ({
      sql: workflows.map(() => due).join(" UNION ALL "),
      values: workflows.flatMap(({ name }) => [name, ...claimableLanes.flatMap(() => [name, now])]),
    }),

    held(request) {
      const limited = withLimit(request);
      return limited.length === 0 ? [] : [{ sql: held, values: [limited, request.now] }];
    },

    caps: (request) =>
      withLimit(request).flatMap((name) => [
        { sql: cap, values: [name, name] },
        { sql: `${cap} FOR UPDATE SKIP LOCKED`, values: [name, name] },
      ]),

    addCaps: (workflows) => workflows.map((name) => ({ sql: addCap, values: [name] })),

    countCaps: (workflows) => workflows.map((name) => ({ sql: countCap, values: [name] })),

    pause: (msMax) => ({ sql: "DO SLEEP(RAND() * ?)", values: [msMax / 1000] }),

    stretches: ({ workflows, now, limit }) =>
      workflows.flatMap(({ name }) =>
        claimableLanes.map((lane) => ({ sql: stretch, values: [name, lane, now, limit] })),
      ),

    instances: (taken) => ({ sql: instances, values: [taken.map(({ row }) => row.instance)] }),

    take: (request, taken) => {
      const { token, owner, leaseUntil, now } = request;
      return {
        sql: take,
        values: [excusedFrom(request), token, owner, leaseUntil, now, now, taken.map((each) => each.run)],
      };
    },
  };
}

/** Workflows with a limit, in an order that is the same for all. */
function withLimit({ workflows }: ClaimRequest): readonly string[] {
  return workflows.flatMap(({ name, concurrency }) => (concurrency === null ? [] : [name])).sort();
}
