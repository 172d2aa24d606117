/** What an event and a publication do to the runs that get them. */
import type { PublishOutcome, PublishRequest, SendEventOutcome, SendEventRequest } from "../store.ts";
import { eventKey, publicationKey, publishedId, sent } from "./keys.ts";
import type { KnownWait, WorkingRun } from "./working-run.ts";
import type { Publication, WorkingSet } from "./working-set.ts";

export function applySendEvent(set: WorkingSet, request: SendEventRequest, now: number): SendEventOutcome {
  const run = set.find(request);
  if (run === undefined) return { kind: "not-found" };
  const { row } = run;
  const { status } = row;
  const key = eventKey(row.instance, sent(request.id));
  const earlier = set.eventIds.get(key);
  if (earlier !== undefined) {
    // Before anything else: a repeat is answered alike, even when the run has ended or its buffer is full by now.
    const answer = { kind: "accepted", runId: earlier, status, duplicate: true, woke: false } as const;
    return earlier === row.run ? answer : { ...answer, ofEarlierRun: true };
  }
  if (run.hasEnded) return { kind: "terminal", status };
  if (isFull(run, request)) return { kind: "buffer-full" };
  const { id, type, forStep, system, payload, createdAt } = request;
  const woke = run.accept({ id, type, topic: null, forStep, system, payload, createdAt }, now);
  set.eventIds.set(key, row.run);
  set.news.due = true;
  if (request.logs) run.addLogs(request.logs);
  return { kind: "accepted", runId: row.run, status, duplicate: false, woke };
}

/** Counting is left out as long as the run never got that many events at all. */
function isFull(run: WorkingRun, { system, bufferMax }: SendEventRequest): boolean {
  return !system && run.row.eventSeq >= bufferMax && run.countBuffered() >= bufferMax;
}

/** One ordinary event for every wait on the topic, addressed to that wait, so that no other takes it. */
export function applyPublish(set: WorkingSet, request: PublishRequest, now: number): PublishOutcome {
  const publication = publicationKey(request);
  const earlier = set.publications.get(publication);
  if (earlier !== undefined) return { kind: "published", ...earlier, duplicate: true };
  const { topic, payload, createdAt } = request;
  const told = new Set<number>();
  let waiters = 0;
  for (const { run, index, wait } of waitersOf(set, topic, now)) {
    const id = publishedId(request.id, run.row.run, index);
    if (set.hasEventId(run.row.instance, { topic, id })) continue;
    run.accept({ id, type: null, topic, forStep: wait.key, system: false, payload, createdAt }, now);
    told.add(run.row.run);
    waiters += 1;
  }
  const made: Publication = { waiters, runIds: [...told] };
  set.publications.set(publication, made);
  set.newPublications.push({ request, made });
  if (waiters > 0) set.news.due = true;
  return { kind: "published", ...made, duplicate: false };
}

interface Waiter {
  readonly run: WorkingRun;
  readonly index: number;
  readonly wait: KnownWait;
}

/** Waits that are registered, not over at `now` and not spoken for; paused runs are among them, ended ones are not. */
function waitersOf(set: WorkingSet, topic: string, now: number): readonly Waiter[] {
  const found: Waiter[] = [];
  for (const run of set.runs.values()) {
    if (run.hasEnded) continue;
    for (const [index, wait] of run.waits) {
      if (wait.topic === topic && wait.wakeAt >= now && !run.isSpokenFor(wait.key))
        found.push({ run, index, wait });
    }
  }
  return found.sort((a, b) => a.run.row.run - b.run.row.run || a.index - b.index);
}
