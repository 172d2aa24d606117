/** Somebody who pauses instances now and then, and resumes them a while later; only where the seed has it. */
import type { App } from "../../../client/app.ts";
import { isTerminal } from "../../../model/instance.ts";
import type { RunFacts } from "../../../verify/run-facts.ts";
import type { Choices } from "../choices.ts";
import type { World } from "../world.ts";

export interface PausesParts {
  readonly world: World;
  readonly choices: Choices;
  readonly everyMs: number;
  readonly app: App;
  readonly facts: () => Iterable<RunFacts>;
  /** The world is not at rest while this goes on. */
  readonly during: (work: Promise<unknown>) => void;
}

export class Pauses {
  readonly #parts: PausesParts;
  #isOver = false;

  constructor(parts: PausesParts) {
    this.#parts = parts;
  }

  start(): void {
    if (this.#parts.everyMs > 0) this.#next();
  }

  /** No more; what is paused is resumed in its time. */
  end(): void {
    this.#isOver = true;
  }

  #next(): void {
    const { world, choices, everyMs, during } = this.#parts;
    world.after(choices.spread("pause after", everyMs / 5, everyMs * 2), () => {
      if (this.#isOver) return;
      during(this.#pauseOne().catch(() => {}));
      this.#next();
    });
  }

  async #pauseOne(): Promise<void> {
    const { world, choices, app, facts } = this.#parts;
    const open = [...facts()].filter(
      ({ record, isCurrent }) => isCurrent && !isTerminal(record.status) && record.status !== "paused",
    );
    if (open.length === 0) return;
    const { workflowName, instanceId } = choices.pick("paused", open).record;
    const workflow = Object.values(app.workflows).find(({ name }) => name === workflowName);
    const instance = await workflow?.get(instanceId);
    await instance?.pause();
    await world.sleep(choices.spread("paused for", 1, 60_000));
    await instance?.resume();
  }
}
