import { formatDuration } from "../authoring/duration.ts";
import type { Turn } from "../engine/turn.ts";
import type { Observer } from "../model/observer.ts";
import type { Runtime, Timer } from "../model/runtime.ts";

/** So many are named where nobody knows which one it was. */
const namedMax = 5;

export interface LoopWatchParts {
  readonly runtime: Runtime;
  readonly leaseMs: number;
  readonly turns: () => Iterable<Turn>;
  readonly observer: Observer;
  /** It stood still for so long that a lease may have run out. */
  readonly onStill: () => void;
}

/**
 * Notices that the event loop stood still for longer than a lease: code that computes without a pause, or a process that
 * was suspended. Others take over what this one holds, and nothing else would say why. Whoever speaks first afterwards is
 * the one who kept the loop; if nobody does, everybody with a turn is named.
 */
export class LoopWatch {
  readonly #parts: LoopWatchParts;
  #timer: Timer | null = null;
  #beatAt = 0;

  constructor(parts: LoopWatchParts) {
    this.#parts = parts;
  }

  /** There are turns in progress. */
  start(): void {
    if (this.#timer === null) this.#beat();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** Code of this turn has just asked for something or come to an end, in this step or outside of any. */
  spoke(turn: Turn, stepName: string | null): void {
    if (this.#timer !== null && this.#isLate) this.#tell([nameOf(turn, stepName === null ? [] : [stepName])]);
  }

  get #stillMs(): number {
    return this.#parts.runtime.monotonic() - this.#beatAt;
  }

  get #isLate(): boolean {
    return this.#stillMs > this.#parts.leaseMs;
  }

  #beat(): void {
    const { runtime, leaseMs, turns, onStill } = this.#parts;
    this.#beatAt = runtime.monotonic();
    this.#timer = runtime.timer(() => {
      if (this.#stillMs > leaseMs / 2) onStill();
      if (this.#isLate) this.#tell([...turns()].map(suspect));
      this.#beat();
    }, leaseMs / 5);
  }

  #tell(suspects: readonly string[]): void {
    const { runtime, leaseMs, observer, onStill } = this.#parts;
    const message = stoodStill(this.#stillMs, leaseMs, suspects);
    this.#beatAt = runtime.monotonic();
    onStill();
    observer.onNotice?.({ workflowName: null, instanceId: null, message });
  }
}

function suspect(turn: Turn): string {
  return nameOf(
    turn,
    turn.begun.map(({ name }) => name),
  );
}

function nameOf({ ref }: Turn, stepNames: readonly string[]): string {
  const steps = [...new Set(stepNames)].map((name) => `"${name}"`);
  const where = steps.length === 0 ? "outside of any step" : `in step ${steps.join(" or ")}`;
  return `${ref.workflowName}/${ref.instanceId} ${where}`;
}

function stoodStill(stillMs: number, leaseMs: number, suspects: readonly string[]): string {
  const more = suspects.length > namedMax ? ` and ${suspects.length - namedMax} others` : "";
  const named = `${suspects.slice(0, namedMax).join(", ")}${more}`;
  const where = suspects.length > 1 ? `one of ${named}` : named;
  return (
    `${where}: the event loop stood still for about ${formatDuration(Math.round(stillMs / 1000) * 1000)}, longer than ` +
    `the lease of ${formatDuration(leaseMs)}, so others may have taken over what this process was doing. ` +
    "Do such work in a worker thread, or in smaller parts."
  );
}
