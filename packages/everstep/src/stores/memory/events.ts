import type { EventRecord } from "../../model/event.ts";
import { isTerminal } from "../../model/instance.ts";
import { waitsOutCrash } from "../../model/lease.ts";
import type {
  PublishOutcome,
  PublishRequest,
  SendEventOutcome,
  SendEventRequest,
} from "../../store/index.ts";
import { eventKey, type MemoryDatabase, type Waiter } from "./database.ts";
import type { Run } from "./run.ts";
import { addLogs, currentRun, makeDue } from "./run.ts";
import { isAwaited } from "./wait.ts";

export function sendEvent(
  database: MemoryDatabase,
  request: SendEventRequest,
  now: number,
): SendEventOutcome {
  const instance = database.find(request);
  if (instance === undefined) return { kind: "not-found" };
  const run = currentRun(instance);
  const earlier = database.eventIds.get(eventKey(instance, request.id));
  if (earlier !== undefined) {
    // Before anything else: a repeat is answered alike, even when the run has ended or its buffer is full by now.
    const answer = {
      kind: "accepted",
      runId: earlier.id,
      status: run.status,
      duplicate: true,
      woke: false,
    } as const;
    return earlier === run ? answer : { ...answer, ofEarlierRun: true };
  }
  if (isTerminal(run.status)) return { kind: "terminal", status: run.status };
  if (!request.system && countBuffered(run) >= request.bufferMax) return { kind: "buffer-full" };
  const { id, type, forStep, system, payload, createdAt } = request;
  const woke = accept(database, run, { id, type, topic: null, forStep, system, payload, createdAt }, now);
  addLogs(run, request.logs ?? []);
  return { kind: "accepted", runId: run.id, status: run.status, duplicate: false, woke };
}

/** One ordinary event for every wait on the topic, addressed to that wait, so that no other takes it. */
export function publish(database: MemoryDatabase, request: PublishRequest, now: number): PublishOutcome {
  const key = `${request.topic.length}:${request.topic}${request.id}`;
  const earlier = database.publications.get(key);
  if (earlier !== undefined) {
    return { kind: "published", waiters: earlier.waiters, runIds: earlier.runIds, duplicate: true };
  }
  const waiters = waitersOf(database, request.topic, now);
  for (const { run, index } of waiters) {
    const { topic, payload, createdAt } = request;
    const id = `${request.id}:${run.id}:${index}`;
    const forStep = run.open.get(index)?.key ?? null;
    accept(database, run, { id, type: null, topic, forStep, system: false, payload, createdAt }, now);
  }
  const runIds = [...new Set(waiters.map(({ run }) => run.id))];
  database.publications.set(key, { waiters: waiters.length, runIds, createdAt: request.createdAt });
  return { kind: "published", waiters: waiters.length, runIds, duplicate: false };
}

/** Waits that are registered, not over at `now` and not spoken for; paused runs are among them, ended ones are not. */
function waitersOf(database: MemoryDatabase, topic: string, now: number): readonly Waiter[] {
  const waiters = [...(database.topics.get(topic)?.values() ?? [])];
  return waiters.filter(({ run, index }) => {
    const wait = run.open.get(index);
    return wait !== undefined && wait.wakeAt >= now && !isTerminal(run.status) && !isSpokenFor(run, wait.key);
  });
}

/** The wait has its event already, though nobody has resumed it yet. */
export function isSpokenFor(run: Run, key: string): boolean {
  for (const event of run.undelivered.values()) if (event.forStep === key) return true;
  return false;
}

/** True when the run was waiting for the event and is due now. */
function accept(
  database: MemoryDatabase,
  run: Run,
  given: Omit<EventRecord, "seq" | "deliveredAt" | "consumedBy">,
  now: number,
): boolean {
  run.eventSeq += 1;
  const event: EventRecord = { ...given, seq: run.eventSeq, deliveredAt: null, consumedBy: null };
  database.putEvent(run, event);
  // A leased row keeps its due time, which is the end of its lease: the turn's own suspend finds the event (INV-23).
  if (run.leased || run.status === "paused" || waitsOutCrash(run) || !isAwaited(event, run)) return false;
  makeDue(database, run, "wake", now);
  return true;
}

function countBuffered(run: Run): number {
  let count = 0;
  for (const event of run.undelivered.values()) if (!event.system) count += 1;
  return count;
}
