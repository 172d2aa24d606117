/**
 * What can be asked of a store's `write`, and what it answers. Plain data: a request says what shall become true and
 * under which precondition; whether it may is answered by the store in the same atomic operation.
 */
import type { Boundary } from "./boundary.ts";
import type { InstanceInput, InstanceRef, InstanceStatus, RunId, TerminationReason } from "./instance.ts";
import type { Claim, Lease } from "./lease.ts";
import type { LogLine } from "./log-line.ts";
import type { Mutations } from "./mutations.ts";
import type { StepRecord } from "./step.ts";
import type { EncodedValue, StoredError } from "./value.ts";

export type StoreRequest =
  | CreateRequest
  | CommitRequest
  | SendEventRequest
  | PublishRequest
  | ChangeRequest
  | DeleteRequest
  | WakeRequest
  | AbandonRequest;

/** The outcome of a request has the same place in the answer and the matching kind. */
export type StoreOutcome =
  | CreateOutcome
  | CommitOutcome
  | SendEventOutcome
  | PublishOutcome
  | ChangeOutcome
  | DeleteOutcome
  | WakeOutcome
  | AbandonOutcome;

export interface LeaseOffer {
  readonly owner: string;
  /** One that no lease ever had. */
  readonly token: number;
  readonly until: number;
}

/** Instance, first run and task at once. An existing id is reported and left alone. */
export interface CreateRequest extends InstanceInput {
  readonly kind: "create";
  /** When the first turn is due. */
  readonly dueAt: number;
  /** Settled steps the first run begins with (fork). */
  readonly history: readonly StepRecord[];
  /** Hand the run back already leased to this owner. */
  readonly lease: LeaseOffer | null;
}

export type CreateOutcome =
  | { readonly kind: "created"; readonly runId: RunId; readonly claim: Claim | null }
  | { readonly kind: "exists"; readonly status: InstanceStatus; readonly runNumber: number };

export type AlongsideRequest = CreateRequest | AlongsideEvent;

/** An event that a step sends. */
export interface AlongsideEvent extends SendEventRequest {
  /** The step, and which start of it. */
  readonly from?: { readonly stepKey: string; readonly attempt: number };
}

/** Makes a boundary durable under a lease. */
export interface CommitRequest {
  readonly kind: "commit";
  readonly lease: Lease;
  readonly boundary: Boundary;
  /**
   * Instances to create and events to send with the boundary, or not at all. Outcomes are not reported back; an event that
   * nobody gets leaves a line in the run's log (`undeliveredLine`).
   */
  readonly alongside: readonly AlongsideRequest[];
  /** The author's own writes. A request that has them must be the only one in its `write`. */
  readonly mutations: Mutations | null;
  /** An instance to create when, and only when, this commit ends the run. */
  readonly announce?: CreateRequest;
  /** The lease is extended to this time (`continue` only), never shortened; 0 leaves it as it is. */
  readonly leaseUntil: number;
}

export type CommitOutcome =
  /**
   * Applied. `eventSeq` is the newest event's sequence; `timeoutsRefused`: the boundary's timeouts were left out because
   * a matching event is there; `dueNow`: it asked to suspend but an event for an open wait is there, so it is due now.
   */
  | {
      readonly kind: "committed";
      readonly eventSeq: number;
      readonly timeoutsRefused: boolean;
      readonly dueNow: boolean;
    }
  /**
   * The instance is paused: steps, events and logs were applied, what comes next was not. The lease stays with the
   * runner after `continue` (it may have bodies in flight) and is gone after everything else.
   */
  | { readonly kind: "paused"; readonly eventSeq: number; readonly timeoutsRefused: boolean }
  /** The lease is not in force any more, or the run has ended: nothing was applied. */
  | { readonly kind: "superseded" }
  /** The author's mutations were refused: nothing was applied, the lease stays. */
  | { readonly kind: "mutation-failed"; readonly conflict: boolean; readonly error: unknown };

export interface SendEventRequest extends InstanceRef {
  readonly kind: "sendEvent";
  readonly id: string;
  readonly type: string | null;
  readonly forStep: string | null;
  readonly system: boolean;
  readonly payload: EncodedValue;
  readonly createdAt: number;
  /** Undelivered events the run may hold. */
  readonly bufferMax: number;
  /** Lines for the log of the run that gets it, written when, and only when, it is new. */
  readonly logs?: readonly LogLine[];
}

export type SendEventOutcome =
  /** `woke`: the run was waiting for it and is due now. */
  | {
      readonly kind: "accepted";
      readonly runId: RunId;
      readonly status: InstanceStatus;
      readonly duplicate: boolean;
      readonly woke: boolean;
      /** A duplicate of an event that an earlier run of the instance has got: this one got none. */
      readonly ofEarlierRun?: true;
    }
  | { readonly kind: "not-found" }
  | { readonly kind: "terminal"; readonly status: InstanceStatus }
  | { readonly kind: "buffer-full" };

/** One event for every wait on the topic that is registered and not expired now. Idempotent by id. */
export interface PublishRequest {
  readonly kind: "publish";
  readonly id: string;
  readonly topic: string;
  readonly payload: EncodedValue;
  readonly createdAt: number;
}

export interface PublishOutcome {
  readonly kind: "published";
  readonly waiters: number;
  /** Runs whose turn may be running in this process and who should look. */
  readonly runIds: readonly RunId[];
  readonly duplicate: boolean;
}

/**
 * A person's decision about an instance, applied only while the precondition holds. Idempotent by id: one that was made
 * before is answered as it was then.
 */
export interface ChangeRequest extends InstanceRef {
  readonly kind: "change";
  readonly id: string;
  readonly when: ChangeCondition;
  readonly change: Change;
  /** An instance to create when, and only when, the change is made. */
  readonly announce?: CreateRequest;
  /** Lines for the log of the run that is current afterwards, written when, and only when, the change is made. */
  readonly logs?: readonly LogLine[];
}

export interface ChangeCondition {
  readonly statuses: readonly InstanceStatus[];
  /** The run it is meant for. */
  readonly runNumber?: number;
  /** What the run's token was when the decision was made: nothing that moves it has happened since. */
  readonly token?: number;
}

export type Change =
  /** Not claimable from now on. A lease in force stays, so that a step in flight can still be recorded. */
  | { readonly kind: "pause" }
  /**
   * Due now. With `shiftDeadlines` every open wait ends later by the length of the pause, and the token moves unless a
   * lease is in force.
   */
  | { readonly kind: "resume"; readonly shiftDeadlines: boolean }
  /** Ends the run; the token moves. */
  | { readonly kind: "terminate"; readonly reason: TerminationReason }
  /** The next run, due now, beginning with `history`; the run before it ends and is kept. The token moves. */
  | { readonly kind: "restart"; readonly history: readonly StepRecord[] }
  /**
   * Out of `errored`, within the run: `reopen` replaces the failed step (null where no step failed), `drop` are the indices of steps removed,
   * events consumed by `releaseEventsOf` are undelivered again; due at `dueAt`. The token moves.
   */
  | {
      readonly kind: "retryStep";
      readonly reopen: StepRecord | null;
      readonly drop: readonly number[];
      readonly releaseEventsOf: readonly string[];
      readonly dueAt: number;
    };

export type ChangeOutcome =
  | {
      readonly kind: "changed";
      readonly runId: RunId;
      readonly status: InstanceStatus;
      readonly runNumber: number;
      /** Another lease was in force when the change was made. */
      readonly leased: boolean;
    }
  | { readonly kind: "refused"; readonly status: InstanceStatus; readonly runNumber: number }
  | { readonly kind: "not-found" };

/**
 * Removes an instance with all its runs, steps, events and log lines, while the precondition holds. Nothing is left that
 * could answer a repeat, so a repeat finds no such instance; the id may be created again at once.
 */
export interface DeleteRequest extends InstanceRef {
  readonly kind: "delete";
  readonly when: DeleteCondition;
}

export interface DeleteCondition {
  /** Any status when left out, also one that was damaged. */
  readonly statuses?: readonly InstanceStatus[];
  /** The id of the instance's first run: an instance that was created later under the same id is not meant. */
  readonly firstRun?: RunId;
}

export type DeleteOutcome =
  | {
      readonly kind: "deleted";
      /** The run that was current. */
      readonly runId: RunId;
      readonly status: InstanceStatus;
    }
  | { readonly kind: "refused"; readonly status: InstanceStatus; readonly runNumber: number }
  | { readonly kind: "not-found" };

/** Makes a run due now, if its token is still the one given and no lease is in force. */
export interface WakeRequest {
  readonly kind: "wake";
  readonly runId: RunId;
  readonly token: number;
}

export interface WakeOutcome {
  readonly kind: "woken" | "ignored";
}

/**
 * What becomes of the runs a dead owner left: `expire` ends its leases now; `error` ends every unfinished run it was
 * the last to hold, waiting ones included. Of an owner that lives, `release` gives back the leases with this token: the
 * answer that handed them out was lost.
 */
export interface AbandonRequest {
  readonly kind: "abandon";
  readonly owner: string;
  readonly fate:
    | { readonly kind: "expire" }
    | { readonly kind: "error"; readonly error: StoredError }
    | { readonly kind: "release"; readonly token: number };
}

export interface AbandonOutcome {
  readonly kind: "abandoned";
  readonly runs: number;
}

/** The outcome that answers a kind of request. */
export type OutcomeOf<Request extends StoreRequest> = Request extends CreateRequest
  ? CreateOutcome
  : Request extends CommitRequest
    ? CommitOutcome
    : Request extends SendEventRequest
      ? SendEventOutcome
      : Request extends PublishRequest
        ? PublishOutcome
        : Request extends ChangeRequest
          ? ChangeOutcome
          : Request extends DeleteRequest
            ? DeleteOutcome
            : Request extends WakeRequest
              ? WakeOutcome
              : Request extends AbandonRequest
                ? AbandonOutcome
                : never;
