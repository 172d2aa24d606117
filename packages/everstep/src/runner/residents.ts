import type { Turn } from "../engine/turn.ts";
import type { RunId } from "../model/instance.ts";
import type { Claim } from "../model/lease.ts";
import type { Reference, Runtime } from "../model/runtime.ts";

/** How many that were dropped are kept while their runs are about to be claimed. */
const expectedMax = 1000;
/** How many that were dropped are remembered for as long as their author code holds them. */
const forgottenMax = 10_000;

/**
 * Suspended turns kept in memory, so many and so much of them at most, least recently used first to go. A cache:
 * dropping one at any moment costs a replay and changes nothing else. One whose author code goes on after it was dropped
 * says so, and is kept until it is claimed.
 */
export class Residents {
  readonly #runtime: Pick<Runtime, "weakReference">;
  readonly #max: number;
  readonly #maxBytes: number;
  readonly #turns = new Map<RunId, Turn>();
  /** Turns that asked for more, and whose runs are due. */
  readonly #expected = new Map<RunId, Turn>();
  /** Dropped ones: whatever is collected was held by nobody, so no author code goes on in it. */
  readonly #forgotten = new Map<RunId, Reference<Turn>>();
  readonly #bytesOf = new Map<Turn, number>();
  #bytes = 0;

  constructor(
    runtime: Pick<Runtime, "weakReference">,
    max: number,
    maxBytes: number = Number.POSITIVE_INFINITY,
  ) {
    this.#runtime = runtime;
    this.#max = max;
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** All whose author code may go on, dropped ones included. */
  get suspended(): readonly Turn[] {
    const forgotten = [...this.#forgotten.values()].flatMap((reference) => reference.deref() ?? []);
    const all = new Set([...this.#turns.values(), ...this.#expected.values(), ...forgotten]);
    return [...all].filter(({ state }) => state === "suspended");
  }

  /** The run of this turn is being made due, whether the turn was dropped or not. */
  expect(turn: Turn): void {
    const { runId } = turn.claim.lease;
    putLast(this.#expected, runId, turn, expectedMax);
  }

  /** Somebody else has gone on with the run. */
  unexpect(turn: Turn): void {
    const { runId } = turn.claim.lease;
    if (this.#expected.get(runId) === turn) this.#expected.delete(runId);
  }

  keep(turn: Turn): void {
    const { runId } = turn.claim.lease;
    this.#remove(runId);
    const { bytes } = turn;
    this.#turns.set(runId, turn);
    this.#bytesOf.set(turn, bytes);
    this.#bytes += bytes;
    for (const oldest of this.#turns.values()) {
      if (this.#turns.size <= this.#max && this.#bytes <= this.#maxBytes) return;
      this.#drop(oldest);
    }
  }

  /**
   * The turn of this run, if the run is just as the turn left it: under its token, with its last commit. A store that has
   * lost its newest writes may have forgotten what the turn knows.
   */
  take(claim: Claim): Turn | undefined {
    const { runId } = claim.lease;
    const turn = this.#remove(runId) ?? this.#expected.get(runId);
    this.#expected.delete(runId);
    this.#forgotten.delete(runId);
    if (!turn) return undefined;
    const { token, commit } = claim.left;
    const isAsLeft = turn.claim.lease.token === token && turn.appliedNumber === commit;
    if (isAsLeft && turn.state === "suspended") return turn;
    this.#drop(turn);
    return undefined;
  }

  clear(): void {
    for (const turn of [...this.#turns.values()]) this.#drop(turn);
    this.#expected.clear();
  }

  #remove(runId: RunId): Turn | undefined {
    const turn = this.#turns.get(runId);
    if (!turn) return undefined;
    this.#turns.delete(runId);
    this.#bytes -= this.#bytesOf.get(turn) ?? 0;
    this.#bytesOf.delete(turn);
    return turn;
  }

  #drop(turn: Turn): void {
    const { runId } = turn.claim.lease;
    this.#remove(runId);
    turn.abandon(new Error("The suspended turn was dropped from memory."));
    putLast(this.#forgotten, runId, this.#runtime.weakReference(turn), forgottenMax);
  }
}

/** The oldest goes where there are too many. */
function putLast<Value>(map: Map<RunId, Value>, runId: RunId, value: Value, max: number): void {
  map.delete(runId);
  map.set(runId, value);
  const oldest = map.keys().next().value;
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}
