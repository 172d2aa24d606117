import type { WaitingStep } from "../model/step.ts";
import type { Call } from "./call.ts";
import { added, none } from "./short-list.ts";
import { earliestWake, wakeOf } from "./step-base.ts";
import type { TurnParts } from "./turn-parts.ts";

/** Steps that wait for a time or an event: sleeps, waits and retries. */
export class ParkedSteps {
  readonly #parts: Pick<TurnParts, "records">;
  #parked: readonly Call[] = none;
  /** Waits that are neither open nor over for a moment. */
  #withdrawn = 0;

  constructor(parts: Pick<TurnParts, "records">) {
    this.#parts = parts;
  }

  get isEmpty(): boolean {
    return this.#parked.length === 0;
  }

  get all(): readonly Call[] {
    return this.#parked;
  }

  get hasWithdrawn(): boolean {
    return this.#withdrawn > 0;
  }

  get earliestWake(): number {
    return earliestWake(this.#parked);
  }

  /** What the earliest wake will be: the next attempt of a step, or anything else. */
  get nextTask(): "retry" | "wake" {
    const wake = this.earliestWake;
    return this.#parked.some((call) => call.type === "do" && wakeOf(call) === wake) ? "retry" : "wake";
  }

  /** Every step that is open waits for an attempt that would come after this time. */
  allRetryAfter(time: number): boolean {
    return !this.isEmpty && this.#parked.every((call) => call.type === "do" && wakeOf(call) > time);
  }

  park(call: Call): void {
    call.state = "parked";
    this.#parked = added(this.#parked, call);
  }

  /** The same, and it is recorded. */
  record(call: Call, record: WaitingStep): void {
    const { register, draft, durability } = this.#parts.records;
    call.record = record;
    register.waits(call, record);
    draft.step(record);
    durability.write();
    this.park(call);
  }

  /** All of them, to be decided anew. */
  take(): readonly Call[] {
    const parked = this.#parked;
    this.#parked = none;
    return parked;
  }

  /** Their timeouts were refused. Until the events are read that they have to take, nothing may rest without them. */
  withdraw(calls: readonly Call[]): void {
    this.#withdrawn += calls.length;
  }

  /** Waits whose timeouts were refused are open again. */
  reopen(calls: readonly Call[]): void {
    this.#withdrawn -= calls.length;
    for (const call of calls) this.park(call);
  }
}
