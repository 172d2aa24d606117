import { LeaseLostError } from "../engine/turn-errors.ts";
import { isTerminal } from "../model/instance.ts";
import type { RunnerParts } from "./runner-parts.ts";

type Parts = Pick<RunnerParts, "setup" | "turns">;

/** Has a pause, a resume or an end that another process decided reach a turn in progress now, not with its next renewal. */
export class DecisionWatch {
  readonly #parts: Parts;
  #isLooking = false;
  /** Something was decided since the last look began. */
  #isAsked = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Another process may have paused, resumed or ended what has its turn here. */
  look(): void {
    this.#isAsked = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#lookUntilNothingIsNew()
      .catch(this.#parts.setup.onProblem)
      .finally(() => {
        this.#isLooking = false;
      });
  }

  async #lookUntilNothingIsNew(): Promise<void> {
    while (this.#isAsked) {
      this.#isAsked = false;
      await this.#look();
    }
  }

  async #look(): Promise<void> {
    const turns = this.#parts.turns.all;
    if (turns.length === 0) return;
    const statuses = await this.#parts.setup.store.getStatuses(turns.map(({ ref }) => ref));
    for (const [at, turn] of turns.entries()) {
      const status = statuses[at];
      if (!turn.canBeRecalled) continue;
      if (status === undefined) turn.abandon(new LeaseLostError("changed", "The instance was deleted."));
      else if (status === "paused") turn.askBeforeNextBody();
      else if (isTerminal(status)) turn.abandon(new LeaseLostError("changed", `The instance is ${status}.`));
      else turn.resumed();
    }
  }
}
