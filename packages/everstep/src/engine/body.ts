import type { EventRecord } from "../model/event.ts";
import type { BegunBody } from "../model/instance.ts";
import type { Mutation, Mutations } from "../model/mutations.ts";
import type { AlongsideRequest } from "../model/request.ts";
import type { Call } from "./call.ts";
import { NameUses } from "./name-uses.ts";
import type { AttemptWatch } from "./observed-attempt.ts";
import { none } from "./short-list.ts";

/** What came of one run of a callback. */
export type BodyOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

/**
 * One start of a step's callback. Once it is void (timed out, lease lost, run ended) nothing it returns, throws, logs or
 * registers counts any more.
 */
export class Body {
  readonly call: Call;
  /** Number of this start, those cut off by a crash included. */
  readonly start: number;
  readonly startedAt: number;
  /** The event whose hook this is; null for the callback of a step. */
  readonly event: EventRecord | null;
  /** Nested calls that have not settled. */
  openCalls = 0;
  isVoid = false;
  /** While it is gated: the write that must be durable before it may begin. */
  gate = 0;
  /** When its time is up, by the monotonic clock. */
  endsAt = Number.POSITIVE_INFINITY;
  timeoutMs = 0;
  isTimedOut = false;
  /** Given while it runs and somebody listens. */
  watch: AttemptWatch | null = null;
  #names: NameUses | null = null;
  // Made only when something is put in: most bodies register nothing.
  #serviceCalls: Mutation[] | null = null;
  #mutate: Mutation[] | null = null;
  #onTerminalError: Mutation[] | null = null;
  #alongside: AlongsideRequest[] | null = null;
  #abort: AbortController | null = null;
  #abortReason: unknown = null;
  #done: ((outcome: BodyOutcome) => void) | null = null;

  constructor(call: Call, start: number, startedAt: number, event: EventRecord | null = null) {
    this.call = call;
    this.start = start;
    this.startedAt = startedAt;
    this.event = event;
  }

  /** Made only when the author looks at it: most bodies never do. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#abortReason !== null && !this.#abort.signal.aborted) this.#abort.abort(this.#abortReason);
    return this.#abort.signal;
  }

  /** The names of steps it has used: each start counts them anew, so that it finds what an earlier one recorded. */
  get names(): NameUses {
    this.#names ??= new NameUses();
    return this.#names;
  }

  /** Where repeating is worse than failing. */
  get mustNotRepeat(): boolean {
    return this.call.spec.options?.failWhenInterrupted === true;
  }

  get begun(): BegunBody {
    return { key: this.call.key, name: this.call.name, start: this.start, at: this.startedAt };
  }

  get mutations(): Mutations | null {
    return this.#serviceCalls === null && this.#mutate === null
      ? null
      : { serviceCalls: this.#serviceCalls ?? none, mutate: this.#mutate ?? none };
  }

  get onTerminalError(): readonly Mutation[] {
    return this.#onTerminalError ?? none;
  }

  /** Other instances to create and events to send, committed with the step's record. */
  get alongside(): readonly AlongsideRequest[] {
    return this.#alongside ?? none;
  }

  callService(mutation: Mutation): void {
    this.#serviceCalls ??= [];
    this.#serviceCalls.push(mutation);
  }

  mutate(mutation: Mutation): void {
    this.#mutate ??= [];
    this.#mutate.push(mutation);
  }

  mutateOnTerminalError(mutation: Mutation): void {
    this.#onTerminalError ??= [];
    this.#onTerminalError.push(mutation);
  }

  send(request: AlongsideRequest): void {
    this.#alongside ??= [];
    this.#alongside.push(request);
  }

  /** Runs the work; `done` hears its outcome, or of its failure, unless the body became void before. */
  async run(work: () => unknown, done: (outcome: BodyOutcome) => void): Promise<void> {
    this.#done = done;
    let outcome: BodyOutcome;
    try {
      outcome = { ok: true, value: await work() };
    } catch (error) {
      outcome = { ok: false, error };
    }
    if (this.isVoid) return;
    this.isVoid = true;
    done(outcome);
  }

  /** Ends the attempt with an error that did not come through its promise. */
  fail(error: unknown): void {
    if (this.isVoid) return;
    this.#void(error);
    this.#done?.({ ok: false, error });
  }

  /** Voids the body and tells it why. */
  cancel(reason: unknown): void {
    if (!this.isVoid) this.#void(reason);
    this.watch?.interrupted(reason);
  }

  #void(reason: unknown): void {
    this.isVoid = true;
    this.#abortReason = reason;
    this.#abort?.abort(reason);
  }
}
