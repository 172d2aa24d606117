import { StepTimeoutError } from "../authoring/errors.ts";
import type { EventRecord } from "../model/event.ts";
import type { BegunBody } from "../model/instance.ts";
import type { Mutation, Mutations } from "../model/mutations.ts";
import type { AlongsideRequest } from "../model/request.ts";
import type { Runtime, Timer } from "../model/runtime.ts";
import type { Call } from "./call.ts";

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
  readonly serviceCalls: Mutation[] = [];
  readonly mutate: Mutation[] = [];
  readonly onTerminalError: Mutation[] = [];
  /** Other instances to create and events to send, committed with the step's record. */
  readonly alongside: AlongsideRequest[] = [];
  #abort: AbortController | null = null;
  #abortReason: unknown = null;
  #timer: Timer | null = null;
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

  get begun(): BegunBody {
    return { key: this.call.key, name: this.call.name, start: this.start, at: this.startedAt };
  }

  get mutations(): Mutations | null {
    return this.serviceCalls.length + this.mutate.length === 0
      ? null
      : { serviceCalls: this.serviceCalls, mutate: this.mutate };
  }

  /** Runs the work; `done` hears its outcome, or of the timeout, unless the body became void before. */
  run(
    work: () => Promise<unknown>,
    runtime: Runtime,
    timeoutMs: number,
    done: (outcome: BodyOutcome) => void,
  ): void {
    this.#done = done;
    if (Number.isFinite(timeoutMs)) {
      this.#timer = runtime.timer(() => {
        this.fail(new StepTimeoutError(this.call.name, timeoutMs, this.start));
      }, timeoutMs);
    }
    const finish = (outcome: BodyOutcome): void => {
      if (this.isVoid) return;
      this.isVoid = true;
      this.#timer?.cancel();
      done(outcome);
    };
    work().then(
      (value) => finish({ ok: true, value }),
      (error) => finish({ ok: false, error }),
    );
  }

  /** Ends the attempt with an error that did not come through its promise. */
  fail(error: unknown): void {
    if (this.isVoid) return;
    this.cancel(error);
    this.#done?.({ ok: false, error });
  }

  /** Voids the body and tells it why. */
  cancel(reason: unknown): void {
    if (this.isVoid) return;
    this.isVoid = true;
    this.#timer?.cancel();
    this.#abortWith(reason);
  }

  #abortWith(reason: unknown): void {
    this.#abortReason = reason;
    this.#abort?.abort(reason);
  }
}
