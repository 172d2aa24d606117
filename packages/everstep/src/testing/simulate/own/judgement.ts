/** Asks the invariants of a world, with everything in view that there is at that moment. */
import { Broken } from "../finding.ts";
import {
  complaintOf,
  type InvariantContext,
  type Invariants,
  Looks,
  type SimulatedInstance,
} from "./invariants.ts";
import type { Stage } from "./stage.ts";

export class Judgement {
  readonly #seed: number | string;
  readonly #stage: Stage;
  readonly #looks: Looks;

  constructor(seed: number | string, stage: Stage) {
    this.#seed = seed;
    this.#stage = stage;
    this.#looks = new Looks(stage.workflows);
  }

  get instances(): readonly SimulatedInstance[] {
    return this.#looks.at(this.#stage.facts(), this.#stage.world.now);
  }

  /** Code of somebody's own: while it is at real work, nothing else happens. Throws the first that is broken. */
  async ask(invariants: Invariants<unknown>): Promise<void> {
    const { works, time } = this.#stage;
    for (const [invariant, holds] of Object.entries(invariants)) {
      const worker = time.outside(`Invariant "${invariant}"`);
      const message = await works.run(worker, () => complaintOf(invariant, holds, this.#context()));
      if (message !== null) throw new Broken({ invariant, message });
    }
  }

  #context(): InvariantContext<unknown> {
    const { state, world } = this.#stage;
    return { state, instances: this.instances, now: new Date(world.now), seed: this.#seed };
  }
}
