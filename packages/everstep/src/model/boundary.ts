import type { BegunBody, TerminalStatus, TerminationReason } from "./instance.ts";
import type { LogLine } from "./log-line.ts";
import type { StepRecord, WaitingStep } from "./step.ts";
import type { TaskKind } from "./task.ts";
import type { EncodedValue, StoredError } from "./value.ts";

/** What one commit makes durable: everything new that a turn knows, and what comes next. */
export interface Boundary {
  /** 1 for the first commit under a token, then a greater one each time, never the same for another content. */
  readonly number: number;
  /** The number of the commit that was applied before it under the token; one less unless said. */
  readonly after?: number;
  readonly steps: readonly StepRecord[];
  /** Waits that timed out. Applied only while no matching event with a sequence above `eventSeqSeen` exists. */
  readonly timeouts: readonly TimedOutWait[];
  readonly consumed: readonly ConsumedEvent[];
  readonly eventSeqSeen: number;
  /**
   * Events the turn has heard of since its claim and that no commit of it has named yet. Where one of them is not there, the
   * store has lost what the turn builds on, and the commit is superseded.
   */
  readonly heard?: readonly HeardEvent[];
  readonly logs: readonly LogLine[];
  /** All bodies in flight once this commit is durable. */
  readonly begun: readonly BegunBody[];
  /** It only shows that the lease is held: the run's count of crashes stays. */
  readonly noProgress?: true;
  readonly next: Next;
}

/** The commit that must have been applied last for this one to be applied. */
export function numberBefore({ number, after = number - 1 }: Boundary): number {
  return after;
}

export interface TimedOutWait {
  /** The wait as it was recorded; an event for it must not be younger than its `wakeAt`. */
  readonly wait: WaitingStep;
  /** What it becomes. */
  readonly settled: StepRecord;
}

export interface ConsumedEvent {
  readonly seq: number;
  readonly stepKey: string;
}

export interface HeardEvent {
  readonly seq: number;
  readonly id: string;
}

/** The store went back in time since the turn heard of an event; another one may have its number by now. */
export function heardOfLost({ heard }: Boundary, idAt: (seq: number) => string | undefined): boolean {
  return heard?.some(({ seq, id }) => idAt(seq) !== id) ?? false;
}

export type Next =
  /** Keep the lease, more to come. */
  | { readonly kind: "continue" }
  /** Every branch waits; the lease is given back. `dueAt` is the earliest wake time of all open waits. */
  | { readonly kind: "suspend"; readonly dueAt: number; readonly task: TaskKind }
  /** Give the lease back although there is more to do (shutdown, step budget); due again at `dueAt`. */
  | { readonly kind: "yield"; readonly dueAt: number }
  | { readonly kind: "complete"; readonly output: EncodedValue }
  | { readonly kind: "error"; readonly error: StoredError; readonly deadLetter: boolean }
  | { readonly kind: "terminate"; readonly reason: TerminationReason };

/** What a run ends with. */
export type Ending = Extract<Next, { readonly kind: "complete" | "error" | "terminate" }>;

/** What the run is then; null for what does not end it. */
export function endedStatus(next: Ending): TerminalStatus;
export function endedStatus(next: Next): TerminalStatus | null;
export function endedStatus(next: Next): TerminalStatus | null {
  switch (next.kind) {
    case "complete":
      return "complete";
    case "error":
      return "errored";
    case "terminate":
      return "terminated";
    default:
      return null;
  }
}
