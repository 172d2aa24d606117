/** What befalls processes and instances from outside, for as long as it goes on; begins anew after every break. */
import { Misfortune } from "../misfortune.ts";
import { Pauses } from "./pauses.ts";
import type { Stage } from "./stage.ts";

export class Trouble {
  readonly #stage: Stage;
  #now: { readonly misfortune: Misfortune; readonly pauses: Pauses } | null = null;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  start(): void {
    const { world, choices, weather, fleet, app, caller } = this.#stage;
    const misfortune = new Misfortune({ world, choices, weather, fleet });
    const pauses = new Pauses({
      world,
      choices,
      app,
      everyMs: weather.pauseEveryMs,
      facts: () => this.#stage.facts(),
      during: (work) => caller.during(work),
    });
    this.#now = { misfortune, pauses };
    misfortune.start();
    pauses.start();
  }

  end(): void {
    this.#now?.misfortune.end();
    this.#now?.pauses.end();
    this.#now = null;
  }
}
