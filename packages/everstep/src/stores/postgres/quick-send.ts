/**
 * Events with one statement, committed by itself. What decides is read as it was when the statement began; the run's row
 * moves with everything that could change it, so it is written only while it is still the one that was read. Whoever
 * was faster (a turn that suspends, another event) leaves the request to the long way.
 */
import type { InstanceStatus } from "../../model/instance.ts";
import { lanes } from "../../store/apply/lane.ts";
import type { SendEventOutcome, SendEventRequest } from "../../store/store.ts";
import { sentKeyText } from "../sql/rows/event-key.ts";
import { flag, integer, type SqlRow, text } from "../sql/rows/row.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { SendQuickly } from "../sql/write/quick-send.ts";
import { canBeWoken } from "../sql/write/quick-send.ts";
import { type Column, column, sameKey, tableText, tableValues } from "./parameter-table.ts";

export function quickSends(names: TableNames): SendQuickly {
  const one = sendText(names, false);
  const many = sendText(names, true);
  return async (database, requests, now) => {
    const rows = requests.map((request, place): Sent => ({ request, place }));
    const isMany = rows.length > 1;
    const values = [now, ...tableValues(columns, rows, isMany)];
    const [result] = await database.run([{ sql: isMany ? many : one, values, isPlannedOnce: true }]);
    const accepted = new Map(result?.rows.map((row) => [integer(row, "place"), outcomeOf(row)]));
    return requests.map((_request, place) => accepted.get(place) ?? null);
  };
}

interface Sent {
  readonly request: SendEventRequest;
  readonly place: number;
}

const columns: readonly Column<Sent>[] = [
  column("place", ({ place }) => place),
  column("workflow", ({ request }) => request.workflowName),
  column("instance_id", ({ request }) => request.instanceId),
  column("buffer_max", ({ request }) => request.bufferMax),
  column("id", ({ request }) => request.id),
  column("type", ({ request }) => request.type),
  column("for_step", ({ request }) => request.forStep),
  column("is_system", ({ request }) => (request.system ? 1 : 0)),
  column("created_at", ({ request }) => request.createdAt),
  column("payload", ({ request }) => request.payload.json),
  column("payload_marks", ({ request }) => request.payload.marks),
];

const kept = ["id", "type", "for_step", "is_system", "created_at", "payload", "payload_marks"];

function outcomeOf(row: SqlRow): SendEventOutcome {
  const status = text(row, "status") as InstanceStatus;
  const woke = flag(row, "is_awaited");
  return { kind: "accepted", runId: integer(row, "run"), status, duplicate: false, woke };
}

/** Subqueries that give a value, never more than that, are looked up row by row whatever the tables hold. */
function sendText(names: TableNames, isMany: boolean): string {
  const sent = sentKeyText("i.id", "v.id");
  const carried = kept.map((name) => `${name === "id" ? sent : `v.${name}`} AS event_${name}`).join(", ");
  const lands = `CASE WHEN s.is_awaited THEN`;
  return `
    WITH seen AS MATERIALIZED (
      SELECT v.place, r.id, r.xmin AS version, ${carried},
        ${canBeWoken} AND (
          SELECT 1 FROM ${names.step} w WHERE w.run = r.id AND w.is_open = 1 AND w.wake_at >= v.created_at
            AND CASE WHEN v.for_step IS NULL THEN w.event_type = v.type ELSE w.key = v.for_step END LIMIT 1
        ) IS NOT NULL AS is_awaited
      FROM ${tableText("v", columns, isMany, 2)}
      JOIN ${names.instance} i ON ${sameKey("i.workflow", "v.workflow", isMany)} AND i.instance_id = v.instance_id
      JOIN ${names.run} r ON ${sameKey("r.id", "i.run", isMany)}
      WHERE r.status IN ('active', 'waiting', 'paused') AND (v.is_system = 1 OR r.event_seq < v.buffer_max)
        AND (SELECT 1 FROM ${names.event} e WHERE e.id = ${sent}) IS NULL
        AND (SELECT (SELECT o.instance FROM ${names.run} o WHERE o.id = e.run) FROM ${names.event} e WHERE e.id = v.id)
          IS DISTINCT FROM i.id
      ORDER BY r.id
    ),
    moved AS (
      UPDATE ${names.run} AS r SET event_seq = r.event_seq + 1, kind = ${lands} 'wake' ELSE r.kind END,
        lane = ${lands} ${lanes.resuming} ELSE r.lane END, due_at = ${lands} least(r.due_at, $1::bigint) ELSE r.due_at END
      FROM seen s WHERE ${sameKey("r.id", "s.id", true)} AND r.xmin = s.version
      RETURNING r.id AS run, r.event_seq AS seq, r.status, s.*
    ),
    sent AS (
      INSERT INTO ${names.event} (run, seq, ${kept.join(", ")})
      SELECT m.run, m.seq, ${kept.map((name) => `m.event_${name}`).join(", ")} FROM moved m
    )
    SELECT m.place, m.run, m.status, m.is_awaited FROM moved m`;
}
