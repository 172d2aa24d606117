/**
 * Hands out due runs with one statement. Every workflow and lane is its own stretch of one index, read from its oldest
 * entry without locking anything; of what is found, as many as asked for are locked, those skipped that somebody else
 * holds. So an idle poll locks nothing. A transaction of somebody's own may hold many runs for long: what one workflow has of
 * them is in nobody else's way, and whoever finds too many looks further.
 */

import { claimableLanes, lanes } from "../../store/apply/lane.ts";
import type { ClaimRequest } from "../../store/store.ts";
import type { Dialect } from "../sql/dialect.ts";
import { crashesText, excusedFrom } from "../sql/lease/claim.ts";
import { flag, type SqlRow } from "../sql/rows/row.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { Database, Statement } from "../sql/session.ts";
import { sameKey } from "./statements.ts";

/** How much further each round looks than the one before, and how many there are. */
const furtherBy = 10;
const roundsMax = 3;

export function claimRound(names: TableNames): Dialect["claim"] {
  const uncapped = claimText(names, uncappedText(names));
  const capped = claimText(names, cappedText(names));

  const askOnce = async (
    database: Database,
    request: ClaimRequest,
    lookedAt: number,
  ): Promise<readonly SqlRow[]> => {
    const caps = request.workflows.filter(({ concurrency }) => concurrency !== null);
    if (caps.length === 0) {
      const values = claimValues(request, lookedAt);
      const [result] = await database.run([{ sql: uncapped, values, isPlannedOnce: true }]);
      return result?.rows ?? [];
    }
    const values = [
      ...claimValues(request, lookedAt),
      request.workflows.map(({ concurrency }) => concurrency),
    ];
    // Counting leases and adding to them are one operation only as long as nobody else does the same.
    const result = await database.transact((tx) =>
      tx.commit([
        serialise(
          names,
          caps.map(({ name }) => name),
        ),
        { sql: capped, values, isPlannedOnce: true },
      ]),
    );
    return result[1]?.rows ?? [];
  };

  return async (database, request) => {
    if (request.limit <= 0 || request.workflows.length === 0) return [];
    const taken: SqlRow[] = [];
    // Others may be at the first ones right now.
    let lookedAt = request.limit * 2 + 32;
    try {
      for (let round = 1; round <= roundsMax; round += 1, lookedAt *= furtherBy) {
        const rows = await askOnce(database, { ...request, limit: request.limit - taken.length }, lookedAt);
        taken.push(...rows.filter(({ run }) => run !== null));
        if (taken.length >= request.limit || !rows.some((row) => flag(row, "is_more"))) break;
      }
    } catch (error) {
      // Whoever were told that it failed would not know of the leases they hold.
      if (taken.length === 0) throw error;
    }
    return taken;
  };
}

/** Always in the same order, so that two claims never wait for each other in a circle. */
function serialise(names: TableNames, workflows: readonly string[]): Statement {
  return {
    sql:
      "SELECT pg_advisory_xact_lock(hashtextextended(w.name, 8675309)) FROM " +
      "(SELECT v.name FROM unnest(?::text[]) AS v (name) ORDER BY hashtextextended(v.name, 8675309)) w",
    values: [workflows.map((name) => `${names.run} ${name}`)],
    isPlannedOnce: true,
  };
}

/** The parameters of the texts below, by number; caps come last. */
const now = "$1::bigint";
const wanted = "$2::bigint";
const lookedAt = "$3::bigint";
const token = "$4::bigint";
const owner = "$5::text";
const until = "$6::bigint";
const workflows = "$7::text[]";
const excused = "$8::bigint";
const caps = "$9::bigint[]";

function claimValues(request: ClaimRequest, lookedAtMost: number): readonly unknown[] {
  return [
    request.now,
    request.limit,
    lookedAtMost,
    request.token,
    request.owner,
    request.leaseUntil,
    request.workflows.map(({ name }) => name),
    excusedFrom(request),
  ];
}

const claimable = `(VALUES (${lanes.resuming}, 0), (${lanes.held}, 0), (${lanes.starting}, 1)) AS l (lane, late)`;

/** What is due of every workflow and lane, oldest first. */
function dueText({ run }: TableNames): string {
  return `SELECT r.id, r.due_at FROM ${run} r
    WHERE r.workflow = w.name AND r.lane = l.lane AND r.due_at <= ${now} ORDER BY r.due_at, r.id LIMIT ${lookedAt}`;
}

/**
 * `found`: what is due, in the order in which it is handed out. `locked`: as much of it as is wanted, locked one by one.
 * `seen`: whether there may be more behind what was found and could not be locked.
 */
function uncappedText(names: TableNames): string {
  return `found AS MATERIALIZED (
      SELECT c.id, l.late, c.due_at FROM unnest(${workflows}) AS w (name) CROSS JOIN ${claimable}
      CROSS JOIN LATERAL (${dueText(names)}) c
      ORDER BY l.late, c.due_at, c.id
    ),
    locked AS MATERIALIZED (
      SELECT f.late, f.due_at, k.* FROM found f CROSS JOIN LATERAL (${lockText(names)}) k LIMIT ${wanted}
    ),
    seen AS (
      SELECT (SELECT count(*) FROM found) >= ${lookedAt} AND (SELECT count(*) FROM locked) < ${wanted} AS is_more
    )`;
}

/** The same where workflows have caps: each of these gets no more than it has room for, and all others are one group. */
function cappedText(names: TableNames): string {
  // Each a stretch of the index of its own.
  const inForce = [lanes.held, lanes.heldPaused].map(
    (lane) =>
      `(SELECT count(*) FROM ${names.run} r WHERE r.workflow = v.name AND r.lane = ${lane} AND r.due_at > ${now})`,
  );
  return `room AS MATERIALIZED (
      SELECT v.name, CASE WHEN v.concurrency IS NULL THEN NULL ELSE v.concurrency - ${inForce.join(" - ")} END AS free
      FROM unnest(${workflows}, ${caps}) AS v (name, concurrency)
    ),
    groups AS MATERIALIZED (
      SELECT w.name, least(${wanted}, w.free) AS most FROM room w WHERE w.free > 0
      UNION ALL SELECT NULL, ${wanted}
    ),
    found AS MATERIALIZED (
      SELECT c.id, l.late, c.due_at, CASE WHEN w.free IS NULL THEN NULL ELSE w.name END AS name
      FROM room w CROSS JOIN ${claimable} CROSS JOIN LATERAL (${dueText(names)}) c
      WHERE w.free IS NULL OR w.free > 0 ORDER BY l.late, c.due_at, c.id
    ),
    grouped AS MATERIALIZED (
      SELECT g.name, k.* FROM groups g CROSS JOIN LATERAL (
        SELECT f.late, f.due_at, k.* FROM found f CROSS JOIN LATERAL (${lockText(names)}) k
        WHERE f.name IS NOT DISTINCT FROM g.name LIMIT g.most
      ) k
    ),
    locked AS MATERIALIZED (SELECT * FROM grouped ORDER BY late, due_at, id LIMIT ${wanted}),
    seen AS (
      SELECT coalesce(bool_or(
        (SELECT count(*) FROM found f WHERE f.name IS NOT DISTINCT FROM g.name) >= ${lookedAt}
        AND (SELECT count(*) FROM grouped k WHERE k.name IS NOT DISTINCT FROM g.name) < g.most
      ), false) AS is_more FROM groups g
    )`;
}

function lockText({ run }: TableNames): string {
  return `SELECT r.id, r.waiting_since, r.token, r.last_commit, r.lane = ${lanes.held} AS ran_out,
      ${crashesText("r", excused)} AS crashes FROM ${run} r
    WHERE r.id = f.id AND coalesce(r.lane, -1) IN (${claimableLanes.join(", ")}) AND r.due_at <= ${now}
    FOR UPDATE SKIP LOCKED`;
}

/** A row for each run that is taken, or one without any. */
function claimText({ run, instance }: TableNames, locked: string): string {
  return `
    WITH ${locked},
    taken AS (
      UPDATE ${run} r SET lane = ${lanes.held}, kind = 'resume', due_at = ${until}, crash_count = k.crashes, status = 'active',
        token = ${token}, last_commit = 0, owner = ${owner}, started_at = coalesce(r.started_at, ${now}),
        waiting_since = NULL, updated_at = ${now}
      FROM locked k WHERE ${sameKey("r.id", "k.id", true)}
      RETURNING r.id, r.instance, r.run_number, r.crash_count, r.started_at, r.recorded, r.event_seq, r.begun,
        k.late, k.due_at AS was_due_at, k.waiting_since, k.token, k.last_commit, k.ran_out
    )
    SELECT s.is_more, t.id AS run, t.run_number, t.token, t.last_commit, t.ran_out, t.crash_count, t.started_at, t.recorded,
      t.event_seq, t.begun, t.waiting_since, i.workflow, i.instance_id, i.created_at, i.deadline_at, i.params, i.params_marks
    FROM seen s LEFT JOIN taken t ON true LEFT JOIN ${instance} i ON ${sameKey("i.id", "t.instance", true)}
    ORDER BY t.late, t.was_due_at, t.id`;
}
