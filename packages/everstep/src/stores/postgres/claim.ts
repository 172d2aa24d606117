/**
 * Hands out due runs with one statement. Every workflow and lane is its own stretch of one index, read from its oldest
 * entry without locking anything; of what is found, as many as asked for are locked, those skipped that somebody else
 * holds. So an idle poll locks nothing, and no more is locked than is handed out.
 */
import type { ClaimedRows, ClaimRound, Dialect } from "../sql/dialect.ts";
import { claimableLanes, lanes } from "../sql/lane.ts";
import { flag } from "../sql/row.ts";
import type { Statement } from "../sql/session.ts";
import type { TableNames } from "../sql/table.ts";
import { sameKey } from "./parameter-table.ts";

export function claimRound(names: TableNames): Dialect["claim"] {
  const uncapped = claimText(names, uncappedText(names));
  const capped = claimText(names, cappedText(names));
  return async (database, round) => {
    if (round.limit <= 0 || round.workflows.length === 0) return { rows: [], putBack: 0 };
    const caps = round.workflows.filter(({ concurrency }) => concurrency !== null);
    if (caps.length === 0) {
      const values = claimValues(round);
      const [result] = await database.run([{ sql: uncapped, values, isPlannedOnce: true }]);
      return claimed(result?.rows ?? []);
    }
    const values = [...claimValues(round), round.workflows.map(({ concurrency }) => concurrency)];
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
    return claimed(result[1]?.rows ?? []);
  };
}

function claimed(rows: ClaimedRows["rows"]): ClaimedRows {
  const handedOut = rows.filter((row) => !flag(row, "is_put_back"));
  return { rows: handedOut, putBack: rows.length - handedOut.length };
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
const delays = "$4::bigint[]";
const owner = "$5::text";
const until = "$6::bigint";
const workflows = "$7::text[]";
const caps = "$8::bigint[]";

function claimValues(round: ClaimRound): readonly unknown[] {
  return [
    round.now,
    round.limit,
    // Others may be at the first ones right now.
    round.limit * 2 + 32,
    round.crashDelaysMs.length === 0 ? [0] : round.crashDelaysMs,
    round.owner,
    round.leaseUntil,
    round.workflows.map(({ name }) => name),
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
  const delay =
    `CASE WHEN r.lane = ${lanes.held} ` +
    `THEN (${delays})[least(r.crash_count + 1, cardinality(${delays}))] ELSE 0 END AS delay`;
  return `
    WITH ${found},
    locked AS MATERIALIZED (
      SELECT f.late, f.due_at, k.* FROM found f CROSS JOIN LATERAL (
        SELECT r.id, r.waiting_since, r.lane = ${lanes.held} AS ran_out, r.crash_count, ${delay} FROM ${run} r
        WHERE r.id = f.id AND coalesce(r.lane, -1) IN (${claimableLanes.join(", ")}) AND r.due_at <= ${now}
        FOR UPDATE SKIP LOCKED
      ) k LIMIT ${wanted}
    ),
    taken AS (
      UPDATE ${run} r SET
        lane = CASE WHEN k.delay > 0 THEN ${lanes.resuming} ELSE ${lanes.held} END,
        kind = CASE WHEN k.delay > 0 THEN 'retry' ELSE 'resume' END,
        due_at = CASE WHEN k.delay > 0 THEN ${now} + k.delay ELSE ${until} END,
        crash_count = CASE WHEN k.ran_out THEN k.crash_count + 1 ELSE k.crash_count END,
        status = CASE WHEN k.delay > 0 THEN r.status ELSE 'active' END,
        token = CASE WHEN k.delay > 0 THEN r.token ELSE r.token + 1 END,
        last_commit = CASE WHEN k.delay > 0 THEN r.last_commit ELSE 0 END,
        owner = CASE WHEN k.delay > 0 THEN r.owner ELSE ${owner} END,
        started_at = CASE WHEN k.delay > 0 THEN r.started_at ELSE coalesce(r.started_at, ${now}) END,
        waiting_since = CASE WHEN k.delay > 0 THEN r.waiting_since END,
        updated_at = CASE WHEN k.delay > 0 THEN r.updated_at ELSE ${now} END
      FROM locked k WHERE ${sameKey("r.id", "k.id", true)}
      RETURNING r.id, r.instance, r.run_number, r.token, r.crash_count, r.started_at, r.recorded, r.event_seq, r.begun,
        k.late, k.due_at AS was_due_at, k.waiting_since, k.delay > 0 AS is_put_back
    )
    SELECT t.id AS run, t.run_number, t.token, t.crash_count, t.started_at, t.recorded, t.event_seq, t.begun,
      t.waiting_since, t.is_put_back, i.workflow, i.instance_id, i.created_at, i.deadline_at, i.params, i.params_marks
    FROM taken t LEFT JOIN ${instance} i ON ${sameKey("i.id", "t.instance", true)} ORDER BY t.late, t.was_due_at, t.id`;
}
