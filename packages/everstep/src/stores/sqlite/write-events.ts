import type { EventRecord } from "../../model/event.ts";
import { waitsOutCrash } from "../../model/lease.ts";
import { endsWait } from "../../model/wait-match.ts";
import { lanes } from "../../store/apply/lane.ts";
import type {
  PublishOutcome,
  PublishRequest,
  SendEventOutcome,
  SendEventRequest,
} from "../../store/store.ts";
import { isKey, publicationKey, publishedKey, sentKey } from "../sql/event-key.ts";
import { eventColumns, eventValues } from "../sql/event-row.ts";
import { readRunList } from "../sql/json-column.ts";
import { integer, text } from "../sql/row.ts";
import type { Connection } from "./connection.ts";
import { type HotRow, type HotRows, hasEnded, hasLease } from "./hot-row.ts";
import { limited } from "./limit.ts";
import { appendsLogs } from "./log-rows.ts";
import type { Steps } from "./steps.ts";

export type SendEvent = (request: SendEventRequest, now: number) => SendEventOutcome;
export type Publish = (request: PublishRequest, now: number) => PublishOutcome;

/** Puts an event into a run's buffer, its id being its key (event-key.ts). False when that was used before. */
type Accept = (row: HotRow, event: NewEvent, wakesAt: number | null) => boolean;
type NewEvent = Pick<EventRecord, "id" | "type" | "topic" | "forStep" | "system" | "payload" | "createdAt">;

export function sendEvents(connection: Connection, hot: HotRows, steps: Steps): SendEvent {
  const accept = accepts(connection);
  const isFull = buffers(connection);
  const append = appendsLogs(connection);
  const find = knownEvents(connection);
  const findOlder: KnownEvent = (id, row) => (isKey(id) ? undefined : find(id, row));

  return (request, now) => {
    const row = hot.byName(request.workflowName, request.instanceId);
    if (row === undefined) return { kind: "not-found" };
    // An id that is known is answered as it was at first, whatever has become of the run since.
    const findKnown = (): SendEventOutcome | undefined =>
      find(sentKey(row.instance, request.id), row) ?? findOlder(request.id, row);
    if (hasEnded(row)) return findKnown() ?? { kind: "terminal", status: row.status };
    if (isFull(row, request)) return findKnown() ?? { kind: "buffer-full" };

    // One of an earlier version is kept under its id alone.
    const older = findOlder(request.id, row);
    if (older) return older;
    const woke = canBeWoken(row) && steps.openWaits(row.run).some((wait) => endsWait(request, wait));
    const event = { ...request, id: sentKey(row.instance, request.id), topic: null };
    if (!accept(row, event, woke ? now : null)) return find(event.id, row) as SendEventOutcome;
    if (request.logs) append(row, request.logs);
    return { kind: "accepted", runId: row.run, status: row.status, duplicate: false, woke };
  };
}

/** One event for every wait on the topic. Waits of paused runs get theirs too, but wake nobody. */
export function publishes(connection: Connection, hot: HotRows): Publish {
  const { db, names } = connection;
  const accept = accepts(connection);
  const known = db.prepare(
    `SELECT waiters, runs FROM ${names.publication} WHERE id = ? OR (id = ? AND topic = ?)`,
  );
  const record = db.prepare(
    `INSERT INTO ${names.publication} (id, topic, created_at, waiters, runs) VALUES (?, ?, ?, ?, ?)`,
  );
  // A wait that has its event and was not resumed yet is spoken for.
  const waits = db.prepare(
    `SELECT run, step_index, key FROM ${names.step} AS s INDEXED BY ${names.step}_topic
     WHERE topic = ? AND is_open = 1 AND wake_at >= ? AND NOT EXISTS (
       SELECT 1 FROM ${names.event} AS e WHERE e.run = s.run AND e.for_step = s.key AND e.delivered_at IS NULL
     ) ORDER BY run, step_index`,
  );

  return ({ id, topic, payload, createdAt }, now) => {
    const key = publicationKey({ topic, id });
    const before = known.get(key, isKey(id) ? key : id, topic);
    if (before !== undefined) {
      const runIds = readRunList(before, "runs");
      return { kind: "published", waiters: integer(before, "waiters"), runIds, duplicate: true };
    }
    const told = new Set<number>();
    let waiters = 0;
    for (const wait of waits.all(topic, now)) {
      const row = hot.byRun(integer(wait, "run"));
      if (row === undefined || hasEnded(row)) continue;
      const forStep = text(wait, "key");
      const eventId = publishedKey(id, row.run, integer(wait, "step_index"));
      const event = { id: eventId, type: null, topic, forStep, system: false, payload, createdAt };
      if (!accept(row, event, canBeWoken(row) ? now : null)) continue;
      waiters += 1;
      told.add(row.run);
    }
    const runIds = [...told];
    record.run(key, topic, createdAt, waiters, JSON.stringify(runIds));
    return { kind: "published", waiters, runIds, duplicate: false };
  };
}

/** A leased run's due time belongs to its lease; the turn learns of the event from its next commit. */
function canBeWoken(row: HotRow): boolean {
  return row.lane !== null && !hasLease(row) && !waitsOutCrash(row);
}

function accepts({ db, names }: Connection): Accept {
  const insert = db.prepare(
    `INSERT INTO ${names.event} (${eventColumns.join(", ")}) VALUES (${eventColumns.map(() => "?").join(", ")})
     ON CONFLICT (id) DO NOTHING`,
  );
  const count = db.prepare(`UPDATE ${names.run} SET event_seq = ? WHERE id = ?`);
  const wake = db.prepare(
    `UPDATE ${names.run} SET event_seq = ?, kind = 'wake', lane = ${lanes.resuming}, due_at = min(due_at, ?) WHERE id = ?`,
  );
  return (row, event, wakesAt) => {
    const seq = row.eventSeq + 1;
    const { changes } = insert.run(...eventValues(row.run, { ...event, seq }));
    if (changes === 0) return false;
    if (wakesAt === null) count.run(seq, row.run);
    else wake.run(seq, wakesAt, row.run);
    return true;
  };
}

/** Counting is left out as long as the run never got that many events at all. */
function buffers({ db, names }: Connection): (row: HotRow, request: SendEventRequest) => boolean {
  const undelivered = db.prepare(
    `SELECT count(*) AS held FROM (
       SELECT 1 FROM ${names.event} WHERE run = ? AND delivered_at IS NULL AND is_system = 0 ${limited}
     )`,
  );
  return (row, { system, bufferMax }) => {
    if (system || row.eventSeq < bufferMax) return false;
    const held = undelivered.get(row.run, bufferMax);
    return held !== undefined && integer(held, "held") >= bufferMax;
  };
}

type KnownEvent = (id: string, row: HotRow) => SendEventOutcome | undefined;

function knownEvents({ db, names }: Connection): KnownEvent {
  const find = db.prepare(
    `SELECT e.run, r.instance FROM ${names.event} e JOIN ${names.run} r ON r.id = e.run WHERE e.id = ?`,
  );
  return (id, row) => {
    const known = find.get(id);
    if (known === undefined || integer(known, "instance") !== row.instance) return undefined;
    const runId = integer(known, "run");
    const answer = { kind: "accepted", runId, status: row.status, duplicate: true, woke: false } as const;
    return runId === row.run ? answer : { ...answer, ofEarlierRun: true };
  };
}
