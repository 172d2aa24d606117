/** What befalls the processes of a simulated world, again and again until it is healed. */
import type { StoreVerb } from "../intercept-store.ts";
import type { Choices } from "./choices.ts";
import type { Fleet, Member } from "./fleet.ts";
import { type Mishap, mishaps, type Weather } from "./weather.ts";
import type { World } from "./world.ts";

/** What a process asks a store for itself, or for whoever wants something of it. */
const asked: readonly StoreVerb[] = ["claim", "create", "renew", "release", "commit"];

/** What will be lost: so many writes, of which the first has this verb; any where it is null. */
export interface Loss {
  readonly writes: number;
  readonly first: StoreVerb | null;
}

export class Misfortune {
  readonly #world: World;
  readonly #choices: Choices;
  readonly #weather: Weather;
  readonly #fleet: Fleet;
  readonly #loseWrites: (loss: Loss) => void;
  #isOver = false;

  constructor(parts: {
    readonly world: World;
    readonly choices: Choices;
    readonly weather: Weather;
    readonly fleet: Fleet;
    /** Writes of all processes will be lost. */
    readonly loseWrites?: (loss: Loss) => void;
  }) {
    this.#world = parts.world;
    this.#choices = parts.choices;
    this.#weather = parts.weather;
    this.#fleet = parts.fleet;
    this.#loseWrites = parts.loseWrites ?? (() => {});
  }

  start(): void {
    const { mishapEveryMs } = this.#weather;
    if (mishapEveryMs > 0) this.#next(mishapEveryMs);
  }

  end(): void {
    this.#isOver = true;
  }

  #next(everyMs: number): void {
    this.#world.after(this.#choices.spread("mishap after", everyMs * 3, everyMs / 10), () => {
      if (this.#isOver) return;
      const members = this.#fleet.places.flatMap(({ member, isSpared }) => (isSpared ? [] : (member ?? [])));
      if (members.length > 0) this.#befall(this.#choices.pick("mishap of", members));
      this.#next(everyMs);
    });
  }

  #befall(member: Member): void {
    const { settings, skewMs } = this.#weather;
    const fleet = this.#fleet;
    const length = (label: string): number =>
      this.#choices.spread(label, settings.lease / 10, settings.lease * 10);
    switch (this.#draw()) {
      case "kill":
        return fleet.kill(member);
      case "freeze":
        return fleet.freeze(member, length("frozen for"));
      case "leave":
        return fleet.leave(member, this.#choices.pick("grace", [0, 100, 5000]));
      case "cut off":
        return fleet.cut(member, length("cut off for"));
      case "set clock":
        return fleet.setClock(member, this.#choices.between("skew", -skewMs, skewMs));
      case "silence":
        return fleet.silence(member, length("silent for"));
      case "lose answers":
        return fleet.loseAnswers(member, this.#choices.pick("answers to", asked), length("answers lost for"));
      case "lose writes":
        return this.#loseWrites({
          writes: this.#choices.pick("writes lost", [1, 2, 3, 5, 10, 30]),
          first: this.#choices.pick("first lost", [null, "claim", "commit", "create"] as const),
        });
    }
  }

  #draw(): Mishap {
    const known = mishaps.filter((kind) => this.#weather.mishaps[kind] > 0);
    const weights = Object.fromEntries(known.map((kind) => [kind, this.#weather.mishaps[kind]]));
    return this.#choices.weighted("mishap", weights as Record<Mishap, number>);
  }
}
