/**
 * Hands out due runs with one statement. Every workflow and lane is its own stretch of one index, read from its oldest
 * entry without locking anything; of what is found, as many as asked for are locked, those skipped that somebody else
 * holds. So an idle poll locks nothing, and no more is locked than is handed out.
 */
import type { ClaimedRows, ClaimRound, Dialect } from "../sql/dialect.ts";
import { lanes } from "../sql/lane.ts";
import { flag } from "../sql/row.ts";
import type { Statement } from "../sql/session.ts";
import type { TableNames } from "../sql/table.ts";

export function claimRound(names: TableNames): Dialect["claim"] {
  const text = claimText(names);
  return async (database, round) => {
    if (round.limit <= 0 || round.workflows.length === 0) return { rows: [], putBack: 0 };
    const statement = { sql: text, values: claimValues(round) };
    const capped = round.workflows.filter(({ concurrency }) => concurrency !== null);
    if (capped.length === 0) {
      const [result] = await database.run([statement]);
      return claimed(result?.rows ?? []);
    }
    // Counting leases and adding to them are one operation only as long as nobody else does the same.
    const result = await database.transact((tx) =>
      tx.commit([
        serialise(
          names,
          capped.map(({ name }) => name),
        ),
        statement,
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
  };
}

function claimValues(round: ClaimRound): readonly unknown[] {
  const { workflows, now, limit, crashDelaysMs, owner, leaseUntil } = round;
  return [
    now,
    limit,
    // Others may be at the first ones right now.
    limit * 2 + 32,
    crashDelaysMs.length === 0 ? [0] : crashDelaysMs,
    owner,
    leaseUntil,
    workflows.map(({ name }) => name),
    workflows.map(({ concurrency }) => concurrency),
  ];
}

function claimText({ run, instance }: TableNames): string {
  const inForce =
    `SELECT count(*) FROM ${run} r WHERE r.workflow = v.name ` +
    `AND r.lane IN (${lanes.held}, ${lanes.heldPaused}) AND r.due_at > g.now`;
  const claimable = `(VALUES (${lanes.resuming}, 0), (${lanes.held}, 0), (${lanes.starting}, 1)) AS l (lane, late)`;
  return `
    WITH given AS MATERIALIZED (
      SELECT ?::bigint AS now, ?::bigint AS wanted, ?::bigint AS looked_at, ?::bigint[] AS delays, ?::text AS owner,
        ?::bigint AS until
    ),
    room AS MATERIALIZED (
      SELECT v.name, CASE WHEN v.concurrency IS NULL THEN NULL ELSE v.concurrency - (${inForce}) END AS free
      FROM given g, unnest(?::text[], ?::bigint[]) AS v (name, concurrency)
    ),
    found AS MATERIALIZED (
      SELECT f.id, f.place FROM (
        SELECT c.id, w.free, row_number() OVER (PARTITION BY w.name ORDER BY l.late, c.due_at, c.id) AS rank,
          row_number() OVER (ORDER BY l.late, c.due_at, c.id) AS place
        FROM given g CROSS JOIN room w CROSS JOIN ${claimable}
        CROSS JOIN LATERAL (
          SELECT r.id, r.due_at FROM ${run} r
          WHERE r.workflow = w.name AND r.lane = l.lane AND r.due_at <= g.now
          ORDER BY r.due_at, r.id LIMIT least(g.looked_at, w.free)
        ) c
        WHERE w.free IS NULL OR w.free > 0
      ) f WHERE f.free IS NULL OR f.rank <= f.free
      ORDER BY f.place LIMIT (SELECT looked_at FROM given)
    ),
    locked AS MATERIALIZED (
      SELECT r.id, f.place, r.waiting_since, r.lane = ${lanes.held} AS ran_out, r.crash_count,
        CASE WHEN r.lane = ${lanes.held}
          THEN g.delays[least(r.crash_count + 1, cardinality(g.delays))] ELSE 0 END AS delay
      FROM given g CROSS JOIN found f JOIN ${run} r ON r.id = f.id
      WHERE r.lane IN (${lanes.resuming}, ${lanes.starting}, ${lanes.held}) AND r.due_at <= g.now
      ORDER BY f.place LIMIT (SELECT wanted FROM given) FOR UPDATE OF r SKIP LOCKED
    ),
    taken AS (
      UPDATE ${run} r SET
        lane = CASE WHEN k.delay > 0 THEN ${lanes.resuming} ELSE ${lanes.held} END,
        kind = CASE WHEN k.delay > 0 THEN 'retry' ELSE 'resume' END,
        due_at = CASE WHEN k.delay > 0 THEN g.now + k.delay ELSE g.until END,
        crash_count = CASE WHEN k.ran_out THEN k.crash_count + 1 ELSE k.crash_count END,
        status = CASE WHEN k.delay > 0 THEN r.status ELSE 'active' END,
        token = CASE WHEN k.delay > 0 THEN r.token ELSE r.token + 1 END,
        last_commit = CASE WHEN k.delay > 0 THEN r.last_commit ELSE 0 END,
        owner = CASE WHEN k.delay > 0 THEN r.owner ELSE g.owner END,
        started_at = CASE WHEN k.delay > 0 THEN r.started_at ELSE coalesce(r.started_at, g.now) END,
        waiting_since = CASE WHEN k.delay > 0 THEN r.waiting_since END,
        updated_at = CASE WHEN k.delay > 0 THEN r.updated_at ELSE g.now END
      FROM given g, locked k WHERE r.id = k.id
      RETURNING r.id, r.instance, r.run_number, r.token, r.crash_count, r.started_at, r.recorded, r.event_seq, r.begun,
        k.place, k.waiting_since, k.delay > 0 AS is_put_back
    )
    SELECT t.id AS run, t.run_number, t.token, t.crash_count, t.started_at, t.recorded, t.event_seq, t.begun,
      t.waiting_since, t.is_put_back, i.workflow, i.instance_id, i.created_at, i.deadline_at, i.params, i.params_marks
    FROM taken t LEFT JOIN ${instance} i ON i.id = t.instance ORDER BY t.place`;
}
