import type { Runtime } from "../model/runtime.ts";

/** So many answers of a run are given within one task of the event loop; the next one waits for its turn. */
const perTaskMax = 100;
/** So many are given in a row, with nothing recorded or handed over in between, before the run counts as stalled. */
const inARowMax = 10_000;

/**
 * Answers that author code gets at once, without anything being recorded or waited for: a step that is done and asked for
 * again, a refusal, a log line. They come as microtasks, so code that asks in a loop would keep every timer, every other
 * instance and every shutdown of its process waiting, for ever.
 */
export class PromptAnswers {
  readonly #runtime: Runtime;
  readonly #onStalled: () => void;
  #inTask = 0;
  #inARow = 0;

  constructor(runtime: Runtime, onStalled: () => void) {
    this.#runtime = runtime;
    this.#onStalled = onStalled;
  }

  /** Something was handed over or asked for that is not over yet. */
  progressed(): void {
    this.#inARow = 0;
  }

  /** Gives what `answer` returns or throws. Nobody may be awaiting it. */
  give<Value>(answer: () => Value): Promise<Value> {
    // Code that has stalled is not answered any more.
    if (this.#inARow >= inARowMax) return new Promise(() => {});
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

  readonly #nextTask = (): void => {
    this.#inTask = 0;
  };
}

function ignore(): void {}
