/**
 * Hands out due runs with one statement. Every workflow and lane is its own stretch of one index, read from its oldest
 * entry without locking anything; of what is found, as many as asked for are locked, those skipped that somebody else
 * holds. So an idle poll locks nothing, and no more is locked than is handed out.
 */
import type { ClaimRequest } from "../../store/store.ts";
import { crashesText, excusedFrom } from "../sql/claim.ts";
import type { Dialect } from "../sql/dialect.ts";
import { claimableLanes, lanes } from "../sql/lane.ts";
import type { Statement } from "../sql/session.ts";
import type { TableNames } from "../sql/table.ts";
import { sameKey } from "./parameter-table.ts";

export function claimRound(names: TableNames): Dialect["claim"] {
  const uncapped = claimText(names, uncappedText(names));
  const capped = claimText(names, cappedText(names));
  return async (database, request) => {
    if (request.limit <= 0 || request.workflows.length === 0) return [];
    const caps = request.workflows.filter(({ concurrency }) => concurrency !== null);
    if (caps.length === 0) {
      const values = claimValues(request);
      const [result] = await database.run([{ sql: uncapped, values, isPlannedOnce: true }]);
      return result?.rows ?? [];
    }
    const values = [...claimValues(request), request.workflows.map(({ concurrency }) => concurrency)];
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

function claimValues(request: ClaimRequest): readonly unknown[] {
  return [
    request.now,
    request.limit,
    // Others may be at the first ones right now.
    request.limit * 2 + 32,
    request.token,
    request.owner,
    request.leaseUntil,
    request.workflows.map(({ name }) => name),
    excusedFrom(request),
  ];
}

const claimable = `(VALUES (${lanes.resuming}, 0), (${lanes.held}, 0), (${lanes.starting}, 1)) AS l (lane, late)`;

/** What is due of every workflow and lane, oldest first. */
function dueText({ run }: TableNames, most: string): string {
  return `SELECT r.id, r.due_at FROM ${run} r
    WHERE r.workflow = w.name AND r.lane = l.lane AND r.due_at <= ${now} ORDER BY r.due_at, r.id LIMIT ${most}`;
}

function uncappedText(names: TableNames): string {
  return `found AS MATERIALIZED (
      SELECT c.id, l.late, c.due_at FROM unnest(${workflows}) AS w (name) CROSS JOIN ${claimable}
      CROSS JOIN LATERAL (${dueText(names, lookedAt)}) c
      ORDER BY l.late, c.due_at, c.id LIMIT ${lookedAt}
    )`;
}

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
    found AS MATERIALIZED (
      SELECT f.id, f.late, f.due_at FROM (
        SELECT c.id, l.late, c.due_at, w.free,
          row_number() OVER (PARTITION BY w.name ORDER BY l.late, c.due_at, c.id) AS rank
        FROM room w CROSS JOIN ${claimable} CROSS JOIN LATERAL (${dueText(names, `least(${lookedAt}, w.free)`)}) c
        WHERE w.free IS NULL OR w.free > 0
      ) f WHERE f.free IS NULL OR f.rank <= f.free
      ORDER BY f.late, f.due_at, f.id LIMIT ${lookedAt}
    )`;
}

/** Those that were found are locked one by one, in order, until there are enough. */
function claimText({ run, instance }: TableNames, found: string): string {
  const isHeld = `r.lane = ${lanes.held}`;
  return `
    WITH ${found},
    locked AS MATERIALIZED (
      SELECT f.late, f.due_at, k.* FROM found f CROSS JOIN LATERAL (
        SELECT r.id, r.waiting_since, r.token, r.last_commit, ${isHeld} AS ran_out,
          ${crashesText("r", excused)} AS crashes FROM ${run} r
        WHERE r.id = f.id AND coalesce(r.lane, -1) IN (${claimableLanes.join(", ")}) AND r.due_at <= ${now}
        FOR UPDATE SKIP LOCKED
      ) k LIMIT ${wanted}
    ),
    taken AS (
      UPDATE ${run} r SET lane = ${lanes.held}, kind = 'resume', due_at = ${until}, crash_count = k.crashes, status = 'active',
        token = ${token}, last_commit = 0, owner = ${owner}, started_at = coalesce(r.started_at, ${now}),
        waiting_since = NULL, updated_at = ${now}
      FROM locked k WHERE ${sameKey("r.id", "k.id", true)}
      RETURNING r.id, r.instance, r.run_number, r.crash_count, r.started_at, r.recorded, r.event_seq, r.begun,
        k.late, k.due_at AS was_due_at, k.waiting_since, k.token, k.last_commit, k.ran_out
    )
    SELECT t.id AS run, t.run_number, t.token, t.last_commit, t.ran_out, t.crash_count, t.started_at, t.recorded, t.event_seq,
      t.begun, t.waiting_since, i.workflow, i.instance_id, i.created_at, i.deadline_at, i.params, i.params_marks
    FROM taken t LEFT JOIN ${instance} i ON ${sameKey("i.id", "t.instance", true)} ORDER BY t.late, t.was_due_at, t.id`;
}
