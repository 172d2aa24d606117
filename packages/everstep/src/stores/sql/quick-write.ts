/**
 * The common batch in one round trip: only commits that need nothing but their own run's row, and creations, each of a
 * run or an instance of its own. Such requests do not depend on each other, so a database that can check a fence and
 * write behind it in one statement does so for all of them, and says which it has applied. What it has not (somebody
 * else was faster, the run is paused, an event is there) goes the long way.
 */
import type { Next } from "../../model/boundary.ts";
import { StoreError } from "../../model/error.ts";
import type { InstanceStatus } from "../../model/instance.ts";
import type { StepRecord } from "../../model/step.ts";
import type {
  CommitRequest,
  CreateOutcome,
  CreateRequest,
  Nudge,
  StoreOutcome,
  StoreRequest,
} from "../../store/store.ts";
import type { Ending } from "./ending.ts";
import { laneOf, lanes } from "./lane.ts";
import { planCreate } from "./plan-create.ts";
import type { RunIds } from "./run-ids.ts";
import { runKey } from "./run-key.ts";
import type { Database } from "./session.ts";
import { nameKey, WorkingSet } from "./working-set.ts";
import type { Writes, Written } from "./write.ts";

export interface QuickBatch {
  readonly commits: readonly QuickCommit[];
  /** The instances to create, with their first runs, as if they were alone in the world. */
  readonly creations: WorkingSet;
  readonly now: number;
}

/** A commit, and what it makes of its run's row once it has passed the fence. */
export interface QuickCommit {
  readonly run: number;
  readonly request: CommitRequest;
  readonly steps: readonly StepRecord[];
  readonly status: InstanceStatus;
  /** null: as it was. */
  readonly kind: string | null;
  /** null: it has ended. */
  readonly lane: number | null;
  /** Under a lease: not before this. */
  readonly dueAt: number;
  readonly ending: Ending | null;
  /** Passes only while no newer event is there; null when events do not matter. */
  readonly eventSeqSeen: number | null;
}

export interface QuickAnswer {
  /** Runs whose commit was applied, with the sequence of their newest event. */
  readonly committed: ReadonlyMap<number, number>;
  /** Ids of the instances that were created. */
  readonly created: ReadonlySet<number>;
  /** Instances that were there, by the id the new one would have got, as they were before anything was applied. */
  readonly existing: ReadonlyMap<number, ExistingInstance>;
}

export interface ExistingInstance {
  readonly run: number;
  readonly status: InstanceStatus;
  readonly runNumber: number;
}

/** One statement, committed by itself. */
export type ApplyQuickly = (database: Database, batch: QuickBatch) => Promise<QuickAnswer>;

type QuickRequest = CommitRequest | CreateRequest;

/** Writes a batch of the common kind quickly, and what is left of it, or is of another kind, the long way. */
export function quickFirst(
  apply: ApplyQuickly,
  database: Database,
  ids: RunIds,
  write: Writes["write"],
): Writes["write"] {
  return async (requests, now) => {
    if (requests.length === 0 || !areIndependent(requests)) return write(requests, now);
    const quick = await applied(apply, database, ids, requests, now);
    const left = requests.filter((_request, n) => quick.outcomes[n] === null);
    if (left.length === 0) return quick as Written;
    if (left.length === requests.length) return write(requests, now);
    const { outcomes, news } = await write(left, now).catch((error: unknown) => {
      throw afterPart(error);
    });
    const later = outcomes.values();
    return {
      outcomes: quick.outcomes.map((outcome) => outcome ?? (later.next().value as StoreOutcome)),
      news: { due: quick.news.due || news.due, changed: news.changed, ended: quick.news.ended || news.ended },
    };
  };
}

/** Part of a batch was applied when the rest failed: whoever repeats the whole is answered rightly. */
function afterPart(error: unknown): unknown {
  if (!(error instanceof StoreError) || error.failure === "ambiguous") return error;
  const message = `${error.message} Some requests of the same write had been applied before.`;
  return new StoreError("ambiguous", error.code, message, { cause: error });
}

interface QuickWritten {
  /** In the order of the requests; null for those that were not applied. */
  readonly outcomes: readonly (StoreOutcome | null)[];
  readonly news: Nudge;
}

async function applied(
  apply: ApplyQuickly,
  database: Database,
  ids: RunIds,
  requests: readonly QuickRequest[],
  now: number,
): Promise<QuickWritten> {
  const creates = requests.filter((request) => request.kind === "create");
  const free = creates.length === 0 ? [] : await ids.take(creates.length);
  const creations = new WorkingSet(() => free.shift() as number);
  const planned = new Map(creates.map((request) => [request, planCreate(creations, request, now)]));
  const commits = requests.filter((request) => request.kind === "commit").map(quickCommit);
  const answer = await apply(database, { commits, creations, now }).catch(nothingIfBusy);
  const { committed, created } = answer;
  ids.giveBack([...creations.runs.keys()].filter((id) => !created.has(id)));

  const before = new Map<number, QuickCommit>();
  const refused = new Set(commits.map(({ run }) => run).filter((run) => !committed.has(run)));
  const outcomes = requests.map((request): StoreOutcome | null => {
    if (request.kind === "create") {
      return createOutcome(planned.get(request) as CreateOutcome, answer, before, refused);
    }
    const run = runKey(request.lease.runId);
    const eventSeq = committed.get(run);
    if (eventSeq === undefined) return null;
    before.set(run, quickCommit(request));
    return { kind: "committed", eventSeq, timeoutsRefused: false, dueNow: false };
  });
  const due = requests.some(({ kind }, n) => kind === "create" && isUnleased(outcomes[n]));
  const hasEnded = commits.some(({ run, ending }) => ending !== null && committed.has(run));
  return { outcomes, news: { due, changed: false, ended: hasEnded } };
}

function isUnleased(outcome: StoreOutcome | null | undefined): boolean {
  return outcome?.kind === "created" && outcome.claim === null;
}

/** What is there is shown as those before it in the batch have left it; null when one of those goes the long way. */
function createOutcome(
  planned: CreateOutcome,
  { created, existing }: QuickAnswer,
  before: ReadonlyMap<number, QuickCommit>,
  refused: ReadonlySet<number>,
): CreateOutcome | null {
  if (planned.kind !== "created") return null;
  const id = runKey(planned.runId);
  if (created.has(id)) return planned;
  const there = existing.get(id);
  if (there === undefined || refused.has(there.run)) return null;
  const { status } = before.get(there.run) ?? there;
  return { kind: "exists", status, runNumber: there.runNumber };
}

/** Writers in each other's way take their turns the long way. */
function nothingIfBusy(error: unknown): QuickAnswer {
  if (error instanceof StoreError && error.failure === "conflict" && error.details?.waited !== true) {
    return { committed: new Map(), created: new Set(), existing: new Map() };
  }
  throw error;
}

/** The order in which independent requests are applied does not matter, nor whether they are applied together. */
export function areIndependent(requests: readonly StoreRequest[]): requests is readonly QuickRequest[] {
  const seen = new Set<string>();
  for (const request of requests) {
    if (!isPlain(request)) return false;
    const key = request.kind === "commit" ? `run ${runKey(request.lease.runId)}` : nameKey(request);
    if (seen.has(key)) return false;
    seen.add(key);
  }
  return true;
}

function isPlain(request: StoreRequest): request is QuickRequest {
  if (request.kind === "create") return true;
  if (request.kind !== "commit" || request.mutations !== null || request.announce) return false;
  return request.alongside.length === 0 && request.boundary.timeouts.length === 0;
}

function quickCommit(request: CommitRequest): QuickCommit {
  const { lease, boundary, leaseUntil } = request;
  const { next, eventSeqSeen } = boundary;
  return {
    run: runKey(lease.runId),
    request,
    steps: onePerIndex(boundary.steps),
    ending: null,
    eventSeqSeen: next.kind === "suspend" ? eventSeqSeen : null,
    ...afterwards(next, leaseUntil),
  };
}

type Afterwards = Pick<QuickCommit, "status" | "kind" | "lane" | "dueAt"> & Partial<QuickCommit>;

function afterwards(next: Next, leaseUntil: number): Afterwards {
  switch (next.kind) {
    case "continue":
      return { status: "active", kind: null, lane: lanes.held, dueAt: leaseUntil };
    case "suspend":
      return { status: "waiting", kind: next.task, lane: laneOf(next.task), dueAt: next.dueAt };
    case "yield":
      return { status: "active", kind: "resume", lane: lanes.resuming, dueAt: next.dueAt };
    case "complete":
      return { status: "complete", ...ended, ending: next };
    case "error":
      return { status: "errored", ...ended, ending: next };
    case "terminate":
      return { status: "terminated", ...ended, ending: next };
  }
}

const ended = { kind: null, lane: null, dueAt: 0 } as const;

/** As if one came after the other: what has settled never changes. */
function onePerIndex(steps: readonly StepRecord[]): readonly StepRecord[] {
  const kept = new Map<number, StepRecord>();
  for (const step of steps) {
    const before = kept.get(step.index);
    if (before === undefined || before.status === "waiting") kept.set(step.index, step);
  }
  return [...kept.values()];
}
