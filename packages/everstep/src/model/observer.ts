/**
 * What can be seen of an app at work: the one seam for metrics, spans, log lines and whatever else only looks on. The library
 * itself looks through it too (tallies, hints, notices, the lines of `everstep dev`).
 *
 * Whoever emits calls a method if it is there, `observer.onRetry?.({ ... })`, so that nothing is made for nobody. Times that end
 * in `At` are epoch milliseconds; durations are milliseconds by the runtime's monotonic clock unless they say otherwise.
 */
import type { StoreFailure } from "./error.ts";
import type { InstanceRef } from "./instance.ts";
import type { StoreOutcome, StoreRequest } from "./request.ts";
import type { StoredError } from "./value.ts";

/**
 * Told of what happens, never asked: what a method returns does not count, and what it throws harms nobody. A start and its end
 * get the same object, for instance as the key of a WeakMap; an end is told only if somebody listened to the start or the end
 * when it began. Methods are called while everything waits: they must be quick.
 */
export interface Observer {
  /** A run came into this process's hands. */
  onClaim?(claim: ObservedClaim): unknown;
  /** A turn begins: the workflow function is started, or continued where it was suspended. */
  onTurnStart?(turn: ObservedTurn): unknown;
  onTurnEnd?(turn: ObservedTurn, end: TurnEnd): unknown;
  /** The body of a step starts. Never on replay. */
  onAttemptStart?(attempt: ObservedAttempt): unknown;
  onAttemptEnd?(attempt: ObservedAttempt, end: AttemptEnd): unknown;
  /** An attempt failed and another one follows. Told once that is durable. */
  onRetry?(retry: ObservedRetry): unknown;
  /** A sleep or a wait for an event is open. Told once that is durable. */
  onWaitStart?(wait: ObservedWait): unknown;
  /** It is over, maybe in another process and years later. Told once that is durable. */
  onWaitEnd?(wait: ObservedWait, end: WaitEnd): unknown;
  /** Something was written or refused: a turn's commit, a creation, an event, a publication, a person's decision. */
  onWrite?(write: ObservedWrite): unknown;
  /** A turn was cut off because its run is not this process's any more. */
  onLeaseLost?(loss: LostLease): unknown;
  /** A turn was cut off because its runner stops, and its run is free for others. */
  onLeaseReturned?(run: ObservedRun): unknown;
  onStoreCallStart?(call: ObservedStoreCall): unknown;
  onStoreCallEnd?(call: ObservedStoreCall, end: StoreCallEnd): unknown;
  /** A sentence for whoever watches the process: an attempt failed, a run ended with an error, the event loop stood still. */
  onNotice?(notice: Notice): unknown;
}

/** Every method; the type sees to it that none is forgotten. */
export const observerNames: { readonly [Name in keyof Observer]-?: true } = {
  onClaim: true,
  onTurnStart: true,
  onTurnEnd: true,
  onAttemptStart: true,
  onAttemptEnd: true,
  onRetry: true,
  onWaitStart: true,
  onWaitEnd: true,
  onWrite: true,
  onLeaseLost: true,
  onLeaseReturned: true,
  onStoreCallStart: true,
  onStoreCallEnd: true,
  onNotice: true,
};

export interface ObservedRun extends InstanceRef {
  readonly runNumber: number;
}

/** What a run is taken up for: its first turn, to go on, or to go on after a process whose lease ran out. */
export type TurnKind = "start" | "resume" | "takeover";

export interface ObservedClaim extends ObservedRun {
  readonly kind: TurnKind;
  /** Leases in a row that ran out without progress. */
  readonly crashCount: number;
  /** It was handed out with its own creation, without a look for due runs. */
  readonly withCreation: boolean;
}

export interface ObservedTurn extends ObservedRun {
  readonly kind: TurnKind;
  /** Continued in memory; otherwise the function begins at the top, answered from history. */
  readonly isResident: boolean;
  /** For a `start`: since it was created, by the wall clock; null for others. Their waits say how late they came (`lateMs`). */
  readonly queuedMs: number | null;
}

export interface TurnEnd {
  /** `yielded`: given back unfinished, `lost`: cut off, so that somebody else goes on. */
  readonly outcome: "suspended" | "complete" | "errored" | "terminated" | "yielded" | "paused" | "lost";
  readonly durationMs: number;
  /** For `suspended`: when it goes on unless an event comes before. */
  readonly dueAt: number | null;
}

export interface ObservedStep extends ObservedRun {
  readonly stepKey: string;
  readonly stepName: string;
}

export interface ObservedAttempt extends ObservedStep {
  /** As `ctx.attempt`: starts that were cut off by a crash count. */
  readonly attempt: number;
}

export interface AttemptEnd {
  /** `interrupted`: cut off, what it came to is void. */
  readonly outcome: "completed" | "failed" | "timed-out" | "interrupted";
  readonly durationMs: number;
  /** Another attempt will follow. */
  readonly willRetry: boolean;
  readonly error: StoredError | null;
}

export interface ObservedRetry extends ObservedAttempt {
  readonly error: StoredError | null;
  readonly retryAt: number;
}

export interface ObservedWait extends ObservedStep {
  readonly kind: "sleep" | "event" | "topic";
  /** The type or the topic it waits for; null for a sleep. */
  readonly awaited: string | null;
  readonly startedAt: number;
  /** When it is over at the latest. */
  readonly until: number;
}

export interface WaitEnd {
  /** A sleep is `over` or `skipped`; a wait has `received` its event, `timed-out`, or `failed` in the author's own hook. */
  readonly outcome: "over" | "skipped" | "received" | "timed-out" | "failed";
  /** How long it was open, by the wall clock: it may have begun in another process. */
  readonly waitedMs: number;
  /** How long after its time, or after its event was accepted, the run went on; by the wall clock. null for `failed`. */
  readonly lateMs: number | null;
}

export interface ObservedWrite {
  /** Whose run it is about; null for a publication, and for what is about many. */
  readonly workflowName: string | null;
  readonly instanceId: string | null;
  /** null where neither request nor outcome tells. */
  readonly runNumber: number | null;
  readonly request: StoreRequest;
  /** null where the store gave none; it may have taken effect all the same. */
  readonly outcome: StoreOutcome | null;
  readonly error: unknown;
  /** A try before the last one may have taken effect: what looks like a repeat may be this write's own doing. */
  readonly isUncertain: boolean;
  /** How many requests shared the last try. */
  readonly together: number;
  /** From being asked for to its outcome: waiting for its place in a write, and all tries. */
  readonly durationMs: number;
  /** About how many bytes of values it carries. */
  readonly bytes: number;
}

/** `expired`: not renewed in time. `superseded`: somebody else has the run. `changed`: a person terminated or restarted it. */
export type LeaseLoss = "expired" | "superseded" | "changed";

export interface LostLease extends ObservedRun {
  readonly reason: LeaseLoss;
}

export interface ObservedStoreCall {
  /** The method of the store: `write`, `claim`, `renew`, `getInstance`, ... */
  readonly verb: string;
  /** How many things it is about: the requests of a `write`, the leases of a `renew`; 1 where it is about one. */
  readonly size: number;
}

export interface StoreCallEnd {
  /** How it failed, for errors that the store has named; `error` for all others. */
  readonly outcome: "ok" | StoreFailure | "error";
  readonly durationMs: number;
  readonly error: unknown;
}

export interface Notice {
  /** Whose it is; null where it is about the process. */
  readonly workflowName: string | null;
  readonly instanceId: string | null;
  readonly message: string;
}
