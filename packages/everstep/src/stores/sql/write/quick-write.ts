/**
 * The common batch in one round trip: only commits that need nothing but their own run's row, and creations, each of a
 * run or an instance of its own. Such requests do not depend on each other, so a database that can check a fence and
 * write behind it in one statement does so for all of them, and says which it has applied. What it has not (somebody
 * else was faster, the run is paused, an event is there) goes the long way.
 */
import type { Next } from "../../../model/boundary.ts";
import { StoreError } from "../../../model/error.ts";
import type { InstanceStatus } from "../../../model/instance.ts";
import type { StepRecord } from "../../../model/step.ts";
import type { TaskKind } from "../../../model/task.ts";
import { afterPart } from "../../../store/after-part.ts";
import { applyCreate } from "../../../store/apply/apply-create.ts";
import type { Ending } from "../../../store/apply/ending.ts";
import { nameKey } from "../../../store/apply/keys.ts";
import { lanes } from "../../../store/apply/lane.ts";
import { ended, extended, suspended, yielded } from "../../../store/apply/moves.ts";
import { runKey } from "../../../store/apply/run-key.ts";
import { WorkingSet } from "../../../store/apply/working-set.ts";
import type {
  CommitRequest,
  CreateOutcome,
  CreateRequest,
  Nudge,
  StoreOutcome,
  StoreRequest,
} from "../../../store/store.ts";
import type { Database } from "../session.ts";
import type { RunIds } from "./run-ids.ts";
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
  readonly kind: TaskKind | null;
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
  const creates = requests.reduce((count, { kind }) => (kind === "create" ? count + 1 : count), 0);
  const free = creates === 0 ? [] : await ids.take(creates);
  let taken = 0;
  const creations = new WorkingSet(() => free[taken++] as number);
  const commits: QuickCommit[] = [];
  const planned = requests.map((request): CreateOutcome | QuickCommit => {
    if (request.kind === "create") return applyCreate(creations, request, now);
    const commit = quickCommit(request);
    commits.push(commit);
    return commit;
  });
  const answer = await apply(database, { commits, creations, now }).catch(nothingIfBusy);
  const { committed, created } = answer;
  if (created.size < creates) ids.giveBack(free.filter((id) => !created.has(id)));

  const before = new Map<number, QuickCommit>();
  const refused = new Set<number>();
  for (const { run } of commits) if (!committed.has(run)) refused.add(run);
  const news = { due: false, changed: false, ended: false };
  const outcomes = planned.map((plan): StoreOutcome | null => {
    if (!isCommit(plan)) {
      const outcome = createOutcome(plan, answer, before, refused);
      if (isUnleased(outcome)) news.due = true;
      return outcome;
    }
    const eventSeq = committed.get(plan.run);
    if (eventSeq === undefined) return null;
    before.set(plan.run, plan);
    if (plan.ending !== null) news.ended = true;
    return { kind: "committed", eventSeq, timeoutsRefused: false, dueNow: false };
  });
  return { outcomes, news };
}

function isCommit(plan: CreateOutcome | QuickCommit): plan is QuickCommit {
  return "request" in plan;
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

/** Writers in each other's way take their turns the long way, and what meets a key that is taken looks who has it. */
function nothingIfBusy(error: unknown): QuickAnswer {
  const isBusy =
    error instanceof StoreError && error.failure === "conflict" && error.details?.waited !== true;
  if (isBusy || (error instanceof StoreError && error.failure === "constraint")) {
    return { committed: new Map(), created: new Set(), existing: new Map() };
  }
  throw error;
}

/** The order in which independent requests are applied does not matter, nor whether they are applied together. */
export function areIndependent(requests: readonly StoreRequest[]): requests is readonly QuickRequest[] {
  const runs = new Set<number>();
  const names = new Set<string>();
  for (const request of requests) {
    if (!isPlain(request)) return false;
    if (request.kind === "commit") runs.add(runKey(request.lease.runId));
    else names.add(nameKey(request));
  }
  return runs.size + names.size === requests.length;
}

function isPlain(request: StoreRequest): request is QuickRequest {
  if (request.kind === "create") return true;
  if (request.kind !== "commit" || request.mutations !== null || request.announce) return false;
  const { timeouts, after, noProgress, heard } = request.boundary;
  if (after !== undefined || noProgress || heard !== undefined) return false;
  return request.alongside.length === 0 && timeouts.length === 0;
}

function quickCommit(request: CommitRequest): QuickCommit {
  const { lease, boundary, leaseUntil } = request;
  const { status, kind, lane, dueAt, ending } = afterwards(boundary.next, leaseUntil);
  return {
    run: runKey(lease.runId),
    request,
    steps: onePerIndex(boundary.steps),
    status,
    kind,
    lane,
    dueAt,
    ending,
    eventSeqSeen: boundary.next.kind === "suspend" ? boundary.eventSeqSeen : null,
  };
}

type Afterwards = Pick<QuickCommit, "status" | "kind" | "lane" | "dueAt" | "ending">;

function afterwards(next: Next, leaseUntil: number): Afterwards {
  switch (next.kind) {
    case "continue":
      return {
        status: "active",
        kind: null,
        lane: lanes.held,
        ...extended(noLease, leaseUntil),
        ending: null,
      };
    case "suspend":
      return { ...suspended(next.task, next.dueAt, 0), ending: null };
    case "yield":
      return { status: "active", ...yielded(next.dueAt), ending: null };
    default:
      return { ...ended(next, null, 0), kind: null, dueAt: 0, ending: next };
  }
}

/** The end of the lease at hand is in the row. */
const noLease = { dueAt: 0 };

/** As if one came after the other: what has settled never changes. */
function onePerIndex(steps: readonly StepRecord[]): readonly StepRecord[] {
  if (steps.length < 2) return steps;
  const kept = new Map<number, StepRecord>();
  for (const step of steps) {
    const before = kept.get(step.index);
    if (before === undefined || before.status === "waiting") kept.set(step.index, step);
  }
  return [...kept.values()];
}
