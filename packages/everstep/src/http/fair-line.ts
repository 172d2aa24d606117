/** Places that clients share: each may have only so many, and those who wait come in turns, not in the order they asked. */
export interface Places {
  readonly max: number;
  readonly maxPerClient: number;
}

export type Leave = () => void;

interface Waiting {
  readonly enter: (leave: Leave) => void;
}

export class FairLine {
  readonly #places: Places;
  /** By client, whose turn is next first. */
  readonly #waiting = new Map<string, Set<Waiting>>();
  readonly #inside = new Map<string, number>();
  #free: number;

  constructor(places: Places) {
    this.#places = places;
    this.#free = places.max;
  }

  /** Resolves when there is a place, for who calls to leave it again. Whoever gives up before is not waited for. */
  enter(client: string, signal?: AbortSignal): Promise<Leave> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#drop(client, waiting);
        reject(signal?.reason);
      };
      const waiting: Waiting = {
        enter: (leave) => {
          signal?.removeEventListener("abort", giveUp);
          resolve(leave);
        },
      };
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener("abort", giveUp, { once: true });
      const own = this.#waiting.get(client) ?? new Set();
      this.#waiting.set(client, own.add(waiting));
      this.#admit();
    });
  }

  /** A client that was let in goes to the end of the map, where this loop comes to it again. */
  #admit(): void {
    for (const [client, own] of this.#waiting) {
      if (this.#free === 0) return;
      const inside = this.#inside.get(client) ?? 0;
      const [next] = own;
      if (next === undefined || inside >= this.#places.maxPerClient) continue;
      this.#drop(client, next);
      if (this.#waiting.delete(client)) this.#waiting.set(client, own);
      this.#free -= 1;
      this.#inside.set(client, inside + 1);
      next.enter(() => this.#left(client));
    }
  }

  #drop(client: string, waiting: Waiting): void {
    const own = this.#waiting.get(client);
    own?.delete(waiting);
    if (own?.size === 0) this.#waiting.delete(client);
  }

  #left(client: string): void {
    this.#free += 1;
    const others = (this.#inside.get(client) ?? 1) - 1;
    if (others > 0) this.#inside.set(client, others);
    else this.#inside.delete(client);
    this.#admit();
  }
}
