import type { TurnParts } from "./turn-parts.ts";

type Parts = Pick<TurnParts, "run" | "life" | "schedule" | "bodies" | "steps">;

/**
 * A pause that a turn hears of while a body holds it open, and its end. Until the body is through, or the run is resumed,
 * what finishes is recorded and not handed over, and nothing begins (turn-pump.ts).
 */
export class TurnPause {
  readonly #parts: Parts;
  /** How often it heard that the run is paused. */
  #heard = 0;
  #isReading = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  paused(): void {
    this.#heard++;
    this.#parts.life.paused();
  }

  /** The run is not paused, or not any more: what was held up goes on. */
  resumed(): void {
    const { run, life } = this.#parts;
    if (!life.isPaused) return;
    if (run.definition.mode === "cloudflare") void this.#goOnWithMovedWaits();
    else this.#goOn();
  }

  /** Resuming has moved the waits of code that was written for Cloudflare. If they cannot be read, the next renewal asks again. */
  async #goOnWithMovedWaits(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const { run, life, steps } = this.#parts;
    const heard = this.#heard;
    const waits = await run.readWaits().catch(() => null);
    this.#isReading = false;
    // Word of another pause means another resume, which moves them again.
    if (waits === null || heard !== this.#heard || !life.isOpen || !life.isPaused) return;
    steps.waitsMoved(waits);
    this.#goOn();
  }

  #goOn(): void {
    const { life, schedule, bodies, steps } = this.#parts;
    life.resumed();
    steps.putBack();
    // Another pause may have begun since: a commit says so.
    bodies.askFirst();
    schedule.pump();
  }
}
