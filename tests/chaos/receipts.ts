/** What clients asked for and what they were told; nothing they were told may turn out to be untrue. */
import { EverstepError, StoreError } from "everstep";
import type { Act } from "./acts.ts";
import { monotonic } from "./time.ts";

/**
 * `unknown`: the store was out of reach for too long; it may have happened or not. `refused`: it did not happen, for a
 * reason that is the caller's.
 */
export type Answer = "acknowledged" | "refused" | "unknown";

export interface Receipt {
  readonly askedAt: number;
  readonly answeredAt: number;
  readonly answer: Answer;
  /** Why it was refused. */
  readonly code?: string;
}

export interface Creation {
  readonly id: string;
  readonly acts: readonly Act[];
}

export interface Letter {
  readonly id: string;
  readonly journey: string;
  readonly number: number;
}

export interface Publication {
  readonly id: string;
  readonly topic: string;
  readonly number: number;
  /** How many waits it reached, once that was told. */
  readonly waiters: number | null;
}

/** An operator's decision. */
export interface Decision {
  readonly kind: "pause" | "resume" | "terminate" | "restart";
  readonly journey: string;
  readonly reason: string;
}

export class Receipts {
  readonly creations: (Creation & Receipt)[] = [];
  readonly letters: (Letter & Receipt)[] = [];
  readonly publications: (Publication & Receipt)[] = [];
  readonly decisions: (Decision & Receipt)[] = [];
  /** Answers nobody should ever get. */
  readonly absurd: string[] = [];
  /** Something that was acknowledged may be gone. */
  mayForget = false;

  /** Asks, and says how it was answered. */
  async answered(
    what: string,
    ask: () => Promise<unknown>,
    refusals: readonly string[] = [],
  ): Promise<Receipt> {
    const askedAt = monotonic();
    const told = await ask().then(
      () => ({ answer: "acknowledged" }) as const,
      (error: unknown) => this.#meaning(what, error, refusals),
    );
    return { askedAt, answeredAt: monotonic(), ...told };
  }

  #meaning(what: string, error: unknown, refusals: readonly string[]): Pick<Receipt, "answer" | "code"> {
    if (error instanceof StoreError && error.retryable) return { answer: "unknown" };
    const code = error instanceof EverstepError ? error.code : undefined;
    const isForgotten = this.mayForget && code === "INSTANCE_NOT_FOUND";
    if (code !== undefined && (isForgotten || refusals.includes(code))) return { answer: "refused", code };
    this.absurd.push(`${what} was answered: ${error instanceof Error ? error.message : String(error)}`);
    return { answer: "unknown" };
  }
}
