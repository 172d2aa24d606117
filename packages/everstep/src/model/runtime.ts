/**
 * The one door through which time, timers, randomness, scheduling and what the collector did come in. Nothing else in the
 * library reads a clock or rolls a die, so a test can reach tomorrow and a simulation can repeat a night.
 */
export interface Runtime {
  /** Wall clock, epoch milliseconds. */
  now(): number;
  /** How far ahead of `now` the clock that others go by may be; nothing where it is the same one. */
  behindMs?(): number;
  /** The wall clock may be wrong: a store that has a clock of its own is asked instead. Otherwise this one rules. */
  readonly followsStore?: boolean;
  /** Milliseconds that never go backwards; measures the age of a lease, never a due time. */
  monotonic(): number;
  /** Calls back once, not before `delayMs` have passed. Any length up to years is legal. */
  timer(callback: () => void, delayMs: number): Timer;
  /** Calls back once, after every microtask that is queued now (and those they queue) has run. */
  drained(callback: () => void): void;
  /** Uniform in [0, 1). */
  float(): number;
  uuid(): string;
  cuid(): string;
  /** A reference that does not keep the value in memory, where the host can say when it is gone. */
  weakReference<Value extends object>(value: Value): Reference<Value>;
  /** A value that follows a call through its awaits. */
  createScope<Value>(): AsyncScope<Value>;
  /** Host and process, as people know them. */
  whereabouts?(): Whereabouts;
  /**
   * Where the host ends its process over a rejected promise or a thrown error that nobody handled: `handler` hears of each
   * first, in the scope of the code it came from, and answers whether it took care of it. Returns the way to stop.
   */
  onStrayError?(handler: (error: unknown, kind: StrayErrorKind) => boolean): () => void;
}

/** A promise nobody awaited, or an exception in a callback nobody called. */
export type StrayErrorKind = "rejected" | "thrown";

export interface Reference<Value> {
  /** Nothing once the value is collected. */
  deref(): Value | undefined;
}

export interface Timer {
  cancel(): void;
}

/** null where there is no such thing, or nobody may know. */
export interface Whereabouts {
  readonly host: string | null;
  readonly pid: number | null;
}

export interface AsyncScope<Value> {
  run<Result>(value: Value, body: () => Result): Result;
  current(): Value | undefined;
}
