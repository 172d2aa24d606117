/**
 * The store goes back in time: its last writes are gone, as after a failover that lost them or with a restored backup.
 * Whoever was told that they stand does not hear of it. What the judges know of the store goes back with it.
 */
import type { StoreCall } from "../intercept-store.ts";
import { isWriting } from "./strikes.ts";
import type { Markable } from "./world-data.ts";

export class Rewind {
  readonly #parts: readonly Markable[];
  readonly #wentBack: (writes: number) => void;
  #pending: { readonly writes: number; left: number; readonly goBack: readonly (() => void)[] } | null = null;

  constructor(parts: readonly Markable[], wentBack: (writes: number) => void) {
    this.#parts = parts;
    this.#wentBack = wentBack;
  }

  /** So many writes from now on will be lost; unless that is settled already. */
  lose(writes: number): void {
    this.#pending ??= { writes, left: writes, goBack: this.#parts.map((part) => part.mark()) };
  }

  /** After all have looked at what the call did. */
  applied(call: StoreCall, answer: unknown): void {
    const pending = this.#pending;
    const isNothing = call.method === "claim" && (answer as readonly unknown[]).length === 0;
    if (pending === null || !isWriting(call) || isNothing) return;
    pending.left--;
    if (pending.left > 0) return;
    this.#pending = null;
    for (const goBack of pending.goBack) goBack();
    this.#wentBack(pending.writes);
  }

  /** Nothing more is lost. */
  end(): void {
    this.#pending = null;
  }
}
