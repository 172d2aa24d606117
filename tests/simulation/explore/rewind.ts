/**
 * The store goes back in time: its last writes are gone, as after a failover that lost them or with a restored backup.
 * Whoever was told that they stand does not hear of it. What the judges know of the store goes back with it.
 */
import type { StoreCall } from "../../../packages/everstep/src/testing/intercept-store.ts";
import type { Loss } from "../../../packages/everstep/src/testing/simulate/misfortune.ts";
import { isWriting } from "../strikes.ts";
import type { Markable } from "../world-data.ts";

interface Pending {
  readonly loss: Loss;
  left: number;
  readonly goBack: readonly (() => void)[];
}

export class Rewind {
  readonly #parts: readonly Markable[];
  readonly #wentBack: (writes: number) => void;
  #wanted: Loss | null = null;
  #pending: Pending | null = null;

  constructor(parts: readonly Markable[], wentBack: (writes: number) => void) {
    this.#parts = parts;
    this.#wentBack = wentBack;
  }

  /** Unless something is being lost already. */
  lose(loss: Loss): void {
    this.#wanted ??= loss;
  }

  /** Before anything of the call takes effect. */
  applying(call: StoreCall): void {
    const loss = this.#wanted;
    if (loss === null || this.#pending !== null || !isWriting(call)) return;
    if (loss.first !== null && !call.verbs.includes(loss.first)) return;
    this.#pending = { loss, left: loss.writes, goBack: this.#parts.map((part) => part.mark()) };
  }

  /** After all have looked at what the call did. */
  applied(call: StoreCall, answer: unknown): void {
    const pending = this.#pending;
    if (pending === null || !isWriting(call)) return;
    if (call.method === "claim" && (answer as readonly unknown[]).length === 0) {
      // Nothing happened: it begins with another.
      if (pending.left === pending.loss.writes) this.#pending = null;
      return;
    }
    pending.left--;
    if (pending.left > 0) return;
    this.end();
    for (const goBack of pending.goBack) goBack();
    this.#wentBack(pending.loss.writes);
  }

  /** Nothing more is lost. */
  end(): void {
    this.#wanted = null;
    this.#pending = null;
  }
}
