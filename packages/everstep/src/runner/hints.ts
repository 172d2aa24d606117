/**
 * What a write that was applied means to somebody who can set a runner going elsewhere: this instance wants a turn, now or
 * then. Only hints: whoever misses one finds the work by looking.
 */
import type { Next } from "../model/boundary.ts";
import type { InstanceRef } from "../model/instance.ts";
import type { Change, CommitRequest, CreateRequest, StoreOutcome, StoreRequest } from "../model/request.ts";

export type WakeReason = "create" | "event" | "resume" | "retry" | "wake";

/** An instance wants a turn. Plain data, fit for a queue. */
export interface WakeHint {
  readonly workflowName: string;
  readonly instanceId: string;
  /** Why: `resume` is also what was given back unfinished, `wake` a sleep or a timeout that is over. */
  readonly reason: WakeReason;
  /** When, if that is later than now. */
  readonly dueAt?: Date;
}

/** Sets a runner going where none polls: calls a tick route, sends to a queue, sets an alarm. */
export interface Dispatcher {
  /** Called after the commit. Nobody waits for it, and what it throws only comes to `onProblem`. */
  wake(hint: WakeHint): unknown;
}

/**
 * The hints of one write. `of` is whose run it was about, which commits do not say themselves. What an outcome does not
 * tell is asked of the store afterwards: hint-questions.ts.
 */
export function hintsOf(
  request: StoreRequest,
  outcome: StoreOutcome,
  now: number,
  of?: InstanceRef,
): readonly WakeHint[] {
  switch (request.kind) {
    case "create":
      // With a claim it is in this process's own hands already.
      return outcome.kind === "created" && outcome.claim === null ? [created(request, now)] : none;
    case "commit":
      return committed(request, outcome, now, of);
    case "sendEvent":
      return outcome.kind === "accepted" && outcome.woke
        ? [hintOf(request, eventReason(request), now)]
        : none;
    case "change": {
      if (outcome.kind !== "changed") return none;
      const next = changed(request, request.change, outcome.leased, now);
      return request.announce ? [...next, created(request.announce, now)] : next;
    }
    case "wake":
      return outcome.kind === "woken" && of ? [hintOf(of, "wake", now)] : none;
    case "delete":
    case "publish":
    case "abandon":
      // Which runs a publication woke is not told. Who ends a dead process's leases takes them up itself.
      return none;
  }
}

const none: readonly WakeHint[] = [];

export function hintOf(ref: InstanceRef, reason: WakeReason, now: number, dueAt: number = now): WakeHint {
  const { workflowName, instanceId } = ref;
  const hint = { workflowName, instanceId, reason };
  return dueAt > now ? { ...hint, dueAt: new Date(dueAt) } : hint;
}

/** The engine's own event ends a sleep early; all others are somebody's. */
export function eventReason({ system }: { readonly system: boolean }): WakeReason {
  return system ? "wake" : "event";
}

function created(request: CreateRequest, now: number): WakeHint {
  return hintOf(request, "create", now, request.dueAt);
}

function committed(
  { alongside, boundary: { next }, announce }: CommitRequest,
  outcome: StoreOutcome,
  now: number,
  of: InstanceRef | undefined,
): readonly WakeHint[] {
  if (outcome.kind !== "committed" && outcome.kind !== "paused") return none;
  const hints: WakeHint[] = [];
  for (const request of alongside) if (request.kind === "create") hints.push(created(request, now));
  // A pause outlives what was to come next.
  if (outcome.kind === "paused") return hints;
  if (of) hints.push(...goesOn(of, next, outcome.dueNow, now));
  if (announce && isEnding(next)) hints.push(created(announce, now));
  return hints;
}

function goesOn(of: InstanceRef, next: Next, dueNow: boolean, now: number): readonly WakeHint[] {
  switch (next.kind) {
    case "suspend":
      if (dueNow) return [hintOf(of, "event", now)];
      return [hintOf(of, next.task === "retry" ? "retry" : "wake", now, next.dueAt)];
    case "yield":
      return [hintOf(of, "resume", now, next.dueAt)];
    default:
      return none;
  }
}

function isEnding({ kind }: Next): boolean {
  return kind === "complete" || kind === "error" || kind === "terminate";
}

function changed(ref: InstanceRef, change: Change, leased: boolean, now: number): readonly WakeHint[] {
  switch (change.kind) {
    case "resume":
      // Whoever holds it goes on by himself.
      return leased ? none : [hintOf(ref, "resume", now)];
    case "restart":
      return [hintOf(ref, "create", now)];
    case "retryStep":
      return [hintOf(ref, "retry", now, change.dueAt)];
    case "pause":
    case "terminate":
      return none;
  }
}
