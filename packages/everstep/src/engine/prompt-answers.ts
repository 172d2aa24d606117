import type { Runtime } from "../model/runtime.ts";

/** So many answers of a run are given within one task of the event loop; the next one waits for its turn. */
const perTaskMax = 100;
/** So many are given in a row, with nothing recorded or handed over in between, before the run counts as stalled. */
const inARowMax = 10_000;
/** Calls are counted without looking whether anything else had its turn, up to this many. */
const unwatchedMax = 1000;
/** So many calls are made in one task of the event loop at most, or twice the steps that a run may have, within reason. */
const callsMin = 100_000;
const callsMax = 1_000_000;

/**
 * Answers that author code gets at once, without anything being recorded or waited for: a refusal, a log line. They come as microtasks, so code that asks in a loop would keep every timer, every other
 * instance and every shutdown of its process waiting, for ever.
 */
export class PromptAnswers {
  readonly #runtime: Runtime;
  readonly #onStalled: () => void;
  readonly #onFlood: () => Error;
  readonly #callsMax: number;
  #inTask = 0;
  #inARow = 0;
  #calls = 0;

  constructor(runtime: Runtime, maxSteps: number, onStalled: () => void, onFlood: () => Error) {
    this.#runtime = runtime;
    this.#callsMax = Math.min(callsMax, Math.max(callsMin, 2 * maxSteps));
    this.#onStalled = onStalled;
    this.#onFlood = onFlood;
  }

  /** Code that has stalled is not answered any more. */
  get hasStalled(): boolean {
    return this.#inARow >= inARowMax;
  }

  /**
   * A step or a log line is asked for. Throws what `onFlood` gives where code asks in a loop without awaiting anything: no
   * promise could ever stop it, and nothing else in the process would have its turn again.
   */
  called(): void {
    if (++this.#calls < unwatchedMax) return;
    if (this.#calls === unwatchedMax) this.#runtime.drained(this.#nextCalls);
    if (this.#calls > this.#callsMax) throw this.#onFlood();
  }

  /** Something was handed over or asked for that is not over yet. */
  progressed(): void {
    this.#inARow = 0;
  }

  /** Gives what `answer` returns or throws. Nobody may be awaiting it. */
  give<Value>(answer: () => Value): Promise<Value> {
    if (this.hasStalled) return new Promise(() => {});
    if (++this.#inARow === inARowMax) {
      this.#onStalled();
      return new Promise(() => {});
    }
    const given = this.#given(answer);
    given.catch(ignore);
    return given;
  }

  async #given<Value>(answer: () => Value): Promise<Value> {
    if (this.#inTask === 0) this.#runtime.drained(this.#nextTask);
    if (++this.#inTask > perTaskMax) await new Promise<void>((resolve) => this.#runtime.drained(resolve));
    return answer();
  }

  readonly #nextCalls = (): void => {
    this.#calls = 0;
  };

  readonly #nextTask = (): void => {
    this.#inTask = 0;
  };
}

function ignore(): void {}
