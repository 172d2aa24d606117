import type { Turn } from "../engine/turn.ts";
import type { Runtime } from "../model/runtime.ts";
import { withTimeout } from "../model/with-timeout.ts";
import type { CommitGroup } from "./commit-group.ts";
import type { Residents } from "./residents.ts";
import { askAgainMs, isRetryable } from "./store-patience.ts";

export interface LateWakesParts {
  readonly group: CommitGroup;
  readonly runtime: Runtime;
  readonly residents: Residents;
  /** Runs are due that were not. */
  readonly onDue: () => void;
  readonly onProblem: (problem: unknown) => void;
}

/**
 * Makes runs due whose turns have ended and whose author code has not. Such code is invisible until it asks for
 * something: a computation or a request outside of any step, beside a wait. Every wake is fenced by the token of its
 * turn, so it means nothing once somebody else has gone on with the run.
 */
export class LateWakes {
  readonly #parts: LateWakesParts;
  #isOver = false;

  constructor(parts: LateWakesParts) {
    this.#parts = parts;
  }

  /** Author code of this turn asked for more: it goes on here with the next claim, unless somebody else is faster. */
  heard(turn: Turn): void {
    const { residents, onDue, onProblem } = this.#parts;
    if (this.#isOver) return;
    if (turn.state === "suspended") residents.expect(turn);
    this.#wake(turn).then((isWoken) => {
      if (!isWoken) residents.unexpect(turn);
      onDue();
    }, onProblem);
  }

  /**
   * The process is about to be gone. Author code that may still be busy would ask for nothing any more, and its run
   * would wait for something else: it is due now and begins again elsewhere.
   */
  async stop(mayBeBusy: (turn: Turn) => boolean, patienceMs: number): Promise<void> {
    const { residents, runtime, onProblem } = this.#parts;
    this.#isOver = true;
    const busy = residents.suspended.filter(mayBeBusy);
    if (busy.length === 0) return;
    const submitted = Promise.all(busy.map((turn) => this.#submit(turn).catch(onProblem)));
    await withTimeout(runtime, patienceMs, submitted);
  }

  /** A store that is out of reach is asked until it answers: nobody else knows that the run is to go on. */
  async #wake(turn: Turn): Promise<boolean> {
    const { runtime, onProblem } = this.#parts;
    for (let failures = 0; ; failures++) {
      try {
        return await this.#submit(turn);
      } catch (problem) {
        if (!isRetryable(problem) || this.#isOver) throw problem;
        onProblem(problem);
        const delayMs = askAgainMs(problem, failures, runtime);
        await new Promise<void>((resolve) => runtime.timer(resolve, delayMs));
        if (this.#isOver) return false;
      }
    }
  }

  async #submit({ claim, ref }: Turn): Promise<boolean> {
    const { runId, token } = claim.lease;
    const { kind } = await this.#parts.group.submit({ kind: "wake", runId, token }, { of: ref });
    return kind === "woken";
  }
}
