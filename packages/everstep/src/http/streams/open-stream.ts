import type { InstanceRef } from "../../model/instance.ts";
import type { Sink } from "./sink.ts";

/**
 * One round of a stream. `news`: something was sent; `same`: there was nothing to send; `again`: there is more to send
 * already; `over`: there will never be more.
 */
export type Fill = (sink: Sink) => Promise<"news" | "same" | "again" | "over">;

export interface StreamTerms {
  /** Whose it is. */
  readonly client: string;
  /** The instance it is about; none for lists. */
  readonly ref?: InstanceRef;
  readonly fill: Fill;
  /** Whether whoever reads it may still do so; a problem to end it with, if not. */
  readonly refusal: () => Promise<unknown>;
}

/** A stream that is open, and what is known of how it stands. */
export class OpenStream {
  readonly sink: Sink;
  readonly terms: StreamTerms;
  /** What the store said of the instance when it was last found to be another; null before. */
  mark: string | null | undefined = null;
  readAt: number;
  sentAt = Number.NEGATIVE_INFINITY;
  allowedAt: number;
  /** How long it may stay unread without any sign of a change. */
  patienceMs = 0;
  #isStale = false;
  #wake: (() => void) | null = null;

  constructor(sink: Sink, terms: StreamTerms, now: number) {
    this.sink = sink;
    this.terms = terms;
    this.readAt = now;
    this.allowedAt = now;
  }

  /** Before it is read: what becomes stale from now on is to be read again. */
  begin(): void {
    this.#isStale = false;
  }

  readAgain(): void {
    this.#isStale = true;
    this.#wake?.();
    this.#wake = null;
  }

  /** Resolves when it is to be read again. */
  async stale(): Promise<void> {
    if (this.#isStale) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }
}
