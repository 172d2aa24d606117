/** When the bodies of workflows came to which point. */
import type { Observer } from "./alternative.ts";

export type Point = keyof Observer;

export class Sightings implements Observer {
  readonly #seen = {
    ended: new Map<string, number>(),
    waits: new Map<string, number>(),
    asleep: new Map<string, number>(),
    awake: new Map<string, number>(),
  };
  #watchers: { readonly isDone: () => boolean; readonly resolve: () => void }[] = [];

  readonly ended = (id: string): void => this.#see("ended", id);
  readonly waits = (id: string): void => this.#see("waits", id);
  readonly asleep = (id: string): void => this.#see("asleep", id);
  readonly awake = (id: string): void => this.#see("awake", id);

  at(point: Point, id: string): number | undefined {
    return this.#seen[point].get(id);
  }

  count(point: Point): number {
    return this.#seen[point].size;
  }

  /** Resolves with true when the one has come there. */
  one(point: Point, id: string, withinMs: number): Promise<boolean> {
    return this.#until(() => this.#seen[point].has(id), withinMs);
  }

  /** Resolves with true when so many have come there, with false when the time is over. */
  many(point: Point, count: number, withinMs: number): Promise<boolean> {
    return this.#until(() => this.#seen[point].size >= count, withinMs);
  }

  forget(): void {
    for (const seen of Object.values(this.#seen)) seen.clear();
  }

  #see(point: Point, id: string): void {
    const seen = this.#seen[point];
    if (seen.has(id)) return;
    seen.set(id, performance.now());
    const done = this.#watchers.filter(({ isDone }) => isDone());
    if (done.length === 0) return;
    this.#watchers = this.#watchers.filter((watcher) => !done.includes(watcher));
    for (const { resolve } of done) resolve();
  }

  #until(isDone: () => boolean, withinMs: number): Promise<boolean> {
    if (isDone()) return Promise.resolve(true);
    return new Promise((settle) => {
      const timer = setTimeout(() => settle(isDone()), withinMs);
      const resolve = (): void => {
        clearTimeout(timer);
        settle(true);
      };
      this.#watchers.push({ isDone, resolve });
    });
  }
}
