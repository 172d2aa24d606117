/**
 * The contract every store keeps. A store holds records and answers whether a write was allowed; it contains no
 * workflow rule. Its promises are the cases of `describeStore` in everstep/testing.
 */
import type { EventRecord } from "../model/event.ts";
import type { BegunBody, InstanceRecord, InstanceRef, InstanceStatus, RunId } from "../model/instance.ts";
import type { Claim, Lease, ReturnedLease } from "../model/lease.ts";
import type { LogLevel, StoredLogLine } from "../model/log-line.ts";
import type { CreateRequest, SendEventRequest, StoreOutcome, StoreRequest } from "../model/request.ts";
import type { StepRecord } from "../model/step.ts";
import type { TaskKind } from "../model/task.ts";
import type { Beat, MinuteTally, RunnerRecord, TallyQuery } from "./beat.ts";
import type { StoreCapabilities } from "./capabilities.ts";

export type * from "../model/request.ts";
export type * from "./beat.ts";

export interface Store {
  /** What people call it: "sqlite", "postgres", "mysql", "redis", "memory". */
  readonly name?: string;
  readonly capabilities: StoreCapabilities;

  /**
   * Brings the schema up to date. Idempotent, safe when several processes do it at once, refuses a newer schema. With
   * `plan` it changes nothing and reports what it would do.
   */
  migrate(options?: MigrateOptions): Promise<MigrationReport>;

  /**
   * One mixed, ordered batch: one transaction, one round trip, one outcome per request, in order. A request applies
   * wholly or not at all; one that is refused never harms its neighbours. Throws a StoreError when nothing was applied
   * (or, with failure "ambiguous", when that is unknown); repeating the same requests is then harmless.
   */
  write(requests: readonly StoreRequest[], now: number): Promise<readonly StoreOutcome[]>;

  /**
   * How many writes of one process may go on at the same time to its advantage; 1 unless said. More help where a write
   * waits for a server: one is prepared while another is on its way.
   */
  readonly writesAtOnce?: number;

  /**
   * The same inside a transaction of the caller's own, on the same database: nothing is durable before the caller
   * commits. Takes only `create` (never with a lease) and `sendEvent`. `tx` is whatever handle the store documents.
   */
  writeWithin?(
    tx: unknown,
    requests: readonly (CreateRequest | SendEventRequest)[],
    now: number,
  ): Promise<readonly StoreOutcome[]>;

  /** Due runs of the named workflows, resuming kinds before starts and oldest first, each with a new lease. */
  claim(request: ClaimRequest): Promise<readonly Claim[]>;

  /**
   * History and undelivered events of claimed runs. A run whose rows cannot be read gives `unreadable`, one that is not
   * there any more is left out. With `maxBytes` it stops reading once what it has read takes about that many bytes: the
   * first run is always read, and those that had to be left for later give `unread`.
   */
  readRuns(requests: readonly RunRead[], maxBytes?: number): Promise<readonly RunHistory[]>;

  /**
   * Extends leases that are still held with that token; also stores the bodies in flight. One answer per lease. A run that
   * knows of fewer commits than the holder was told of has lost them, and with them the lease. Once
   * `signal` is aborted nobody waits any more: the store gives up the connection it asked on, and the next call goes out
   * on another.
   */
  renew(
    renewals: readonly Renewal[],
    until: number,
    now: number,
    signal?: AbortSignal,
  ): Promise<readonly RenewAnswer[]>;

  /** Gives leases back: the run is due at `now` again, or to be retried later. Those no longer held are left alone. */
  release(leases: readonly ReturnedLease[], now: number): Promise<void>;

  getInstance(ref: InstanceRef, runNumber?: number): Promise<InstanceRecord | undefined>;
  /** The current runs of many, in the order asked for. */
  getInstances(refs: readonly InstanceRef[]): Promise<readonly (InstanceRecord | undefined)[]>;
  /** Only the status of the current runs, in the order asked for: for those who look often, and at many. */
  getStatuses(refs: readonly InstanceRef[]): Promise<readonly (InstanceStatus | undefined)[]>;
  /**
   * For each current run, in the order asked for, a short text that is another once anything was recorded of it; undefined
   * for nobody. For those who look often, and at many; they may be told of a change where there is none.
   */
  getMarks?(refs: readonly InstanceRef[]): Promise<readonly (string | undefined)[]>;
  listInstances(query: InstanceQuery): Promise<Page<InstanceRecord>>;
  /** All runs of an instance, newest first (at most `limit`). */
  listRuns(ref: InstanceRef, limit: number, terms?: ValueTerms): Promise<readonly InstanceRecord[]>;
  listSteps(runId: RunId, query: PageQuery & ValueTerms): Promise<Page<StepRecord>>;
  /** Without events of the engine itself. */
  listEvents(runId: RunId, query: PageQuery): Promise<Page<EventRecord>>;
  listLogs(runId: RunId, query: LogQuery): Promise<Page<StoredLogLine>>;
  listWaiters(topic: string, query: PageQuery): Promise<Page<TopicWaiter>>;
  /**
   * Topics with waits that are open now, by name. A look is bounded: where few of the topics that were ever waited on are
   * open, a page may be short or even empty and still have `after`.
   */
  listTopics(query: PageQuery): Promise<Page<TopicSummary>>;
  countByStatus(workflowName?: string): Promise<Readonly<Record<InstanceStatus, number>>>;
  /** The earliest time a run of these workflows wants a turn, leases in force included; null when none does. */
  nextDueAt(workflows: readonly string[]): Promise<number | null>;
  /** What wants a turn at that time or before, soonest first, over all workflows; what is under a lease is left out. */
  listDue(query: DueQuery): Promise<readonly DueRun[]>;

  /**
   * Current runs that are `unlisted`, in no order, also those that no other list has. Only where that can be. A page may be
   * empty and still have `after`.
   */
  listUnlisted?(query: PageQuery): Promise<Page<InstanceRecord>>;

  /** Removes whole instances (all runs, steps, events, logs) that are terminal and past their retention. */
  prune(request: PruneRequest): Promise<number>;

  /** Where the store can tell at once that an owner is dead (an OS-held lock), it does; see `Ownership`. */
  readonly ownership?: Ownership;
  /**
   * Where looking is nearly free: a value that is another once somebody else has written. Runners look at it often, so
   * that what another process does is noticed long before the next poll.
   */
  changeMark?(): Promise<number>;
  /**
   * Hints from other processes; they may be lost without harm. Resolves once it listens, with the way to stop. A
   * listener whose connection broke is told so once and hears nothing more: whoever wants more subscribes again.
   */
  subscribe?(listener: NudgeListener): Promise<() => void>;
  /**
   * Asks the server on the connection that brings nudges, which may be dead without a word. It is given up, and its
   * listeners are told, when it fails or once `signal` is aborted.
   */
  probeNudges?(signal: AbortSignal): Promise<void>;

  /** What the store's own clock says. Where it is there, all processes follow it, so that theirs need not agree. */
  serverTime?(): Promise<number>;

  /** A runner tells that it lives, and what it has done. */
  beat?(beat: Beat): Promise<void>;
  /** Those seen last first. */
  listRunners?(limit: number): Promise<readonly RunnerRecord[]>;
  /** What all runners did, minute by minute; minutes in which nothing was done are left out. */
  readTallies?(query: TallyQuery): Promise<readonly MinuteTally[]>;

  /** Settings of the server under which it cannot keep what the contract promises. */
  warnings?(): Promise<readonly StoreWarning[]>;

  close(): Promise<void>;
}

export interface MigrateOptions {
  readonly plan?: boolean;
}

export interface MigrationReport {
  readonly from: number;
  readonly to: number;
  /** What was run, or with `plan` would be run, in order; none where the store has no statements. */
  readonly statements: readonly string[];
}

export interface NudgeListener {
  onNudge(nudge: Nudge): void;
  onLost(reason: unknown): void;
}

/** What happened in another process. */
export interface Nudge {
  /** Something became due, or an event came for a run that may have its turn here. */
  readonly due: boolean;
  /** A person's decision (pause, terminate, ...) about a run that may have its turn here. */
  readonly changed: boolean;
  /** A run ended. */
  readonly ended: boolean;
}

export interface StoreWarning {
  /** Stable, for programs: FSYNC_OFF. */
  readonly code: string;
  /** What is set, what may be lost, and what to set instead. */
  readonly message: string;
}

// ------------------------------------------------------------------------------------------------ claim and read

export interface ClaimRequest {
  readonly owner: string;
  /** Of every lease that is handed out; one that no lease ever had. */
  readonly token: number;
  /** Workflows this runner has code for, with how many of their runs may be leased at once over all runners. */
  readonly workflows: readonly { readonly name: string; readonly concurrency: number | null }[];
  readonly limit: number;
  readonly now: number;
  readonly leaseUntil: number;
  /** Leases that ran out at this time or later prove no crash; see `provesCrash`. */
  readonly excusedFrom?: number;
}

export interface RunRead {
  readonly runId: RunId;
  /** False: only the events. */
  readonly steps: boolean;
  /** Undelivered events above this sequence. */
  readonly eventsAfter: number;
}

export type RunHistory =
  | {
      readonly kind: "history";
      readonly runId: RunId;
      /** By index. */
      readonly steps: readonly StepRecord[];
      /** By sequence. */
      readonly events: readonly EventRecord[];
    }
  | { readonly kind: "unreadable"; readonly runId: RunId; readonly error: Error }
  /** It did not fit into what might be read at once. */
  | { readonly kind: "unread"; readonly runId: RunId };

export interface Renewal {
  readonly lease: Lease;
  readonly begun: readonly BegunBody[];
  /**
   * The number of the newest commit that `begun` knows of. Where another one is the last that was applied, `begun` is out of
   * date and left out: renewals and commits may overtake each other. Without it `begun` always counts.
   */
  readonly commit?: number;
  /** The number of the newest commit that is known to be applied; 0 unless said. */
  readonly applied?: number;
}

export type RenewAnswer =
  | { readonly kind: "renewed"; readonly eventSeq: number; readonly paused: boolean }
  | { readonly kind: "lost" }
  /** Still held and not extended, because somebody is writing this run: to be asked again in a moment. */
  | { readonly kind: "busy" };

// ------------------------------------------------------------------------------------------------ reads

export interface PageQuery {
  readonly limit: number;
  /** Where the last page ended. */
  readonly after?: string;
  readonly order?: "asc" | "desc";
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Given when there is more. */
  readonly after?: string;
}

export interface ValueTerms {
  /**
   * Params, outputs and results are not read, which may be a mebibyte each: params and results are given as `unreadValue`
   * (a result with its marks), outputs as null.
   */
  readonly brief?: boolean;
}

/** By creation, newest first unless `order` says otherwise. */
export interface InstanceQuery extends PageQuery, ValueTerms {
  readonly workflowName?: string;
  readonly statuses?: readonly InstanceStatus[];
  readonly deadLetter?: boolean;
  /** Created at this time or later. */
  readonly createdFrom?: number;
  /** Created before this time. */
  readonly createdBefore?: number;
  /**
   * Ids that begin with this, in exact case. A call looks at a bounded number of instances, about 10,000: a page may then
   * be short or even empty and still have `after`.
   */
  readonly idPrefix?: string;
}

export interface DueQuery {
  readonly before: number;
  readonly limit: number;
}

export interface DueRun extends InstanceRef {
  readonly runNumber: number;
  readonly kind: TaskKind;
  readonly dueAt: number;
}

export interface PruneRequest {
  /** Retention that ended at this time or before. */
  readonly before: number;
  /** Instances to remove at most. */
  readonly limit: number;
  /** Publications accepted before this time are forgotten: their ids are new again. */
  readonly publicationsBefore?: number;
}

/** `after` is the sequence number of a line: whoever follows a log goes on after the last line it has. */
export interface LogQuery extends PageQuery {
  readonly level?: LogLevel;
  readonly category?: string;
}

export interface TopicWaiter extends InstanceRef {
  readonly runNumber: number;
  readonly stepKey: string;
  readonly topic: string;
  readonly deadlineAt: number;
  /** Its event has come and it has not gone on yet (it is paused, say): a publication does not reach it any more. */
  readonly hasEvent: boolean;
}

export interface TopicSummary {
  readonly topic: string;
  /** Waits that are open now, with those that have their event. */
  readonly waiters: number;
}

/** Proof of life of the runners on one host. */
export interface Ownership {
  /** Holds a lock under this name until released or until the process dies, however it dies. */
  hold(owner: string): Promise<OwnerHold>;
  /** Owners whose lock is there for the taking: their process is gone. */
  findDead(): Promise<readonly string[]>;
  /** Forgets a dead owner once its runs have been taken care of. */
  bury(owner: string): Promise<void>;
}

export interface OwnerHold {
  release(): Promise<void>;
}
