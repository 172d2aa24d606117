/**
 * How late this process is with what is due: a machine that is busy elsewhere shows in every timer. And how late a store's
 * answers are: its server may be kept waiting while this process is not.
 */
import type { Store } from "everstep/store";

const beatMs = 20;

export interface LatenessWatch {
  /** The most that a beat was late since the watch began. Ends the watch. */
  worstMs(): number;
}

export function watchLateness(): LatenessWatch {
  let last = performance.now();
  let worst = 0;
  const beat = (): void => {
    const now = performance.now();
    worst = Math.max(worst, now - last - beatMs);
    last = now;
  };
  const timer = setInterval(beat, beatMs);
  return {
    worstMs() {
      beat();
      clearInterval(timer);
      return worst;
    },
  };
}

/** Watches what a store is asked. */
export class AnswerTimes {
  readonly #asked = new Set<{ readonly at: number }>();
  readonly #watches = new Set<{ worst: number }>();

  /** The same store. Its tables are made before anything is due. */
  of(store: Store): Store {
    return new Proxy(store, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== "function") return member;
        if (key === "migrate" || key === "close") return member.bind(target);
        return (...given: unknown[]) => this.#timed(member.apply(target, given));
      },
    });
  }

  watch(): LatenessWatch {
    const watch = { worst: 0 };
    this.#watches.add(watch);
    return {
      worstMs: () => {
        this.#watches.delete(watch);
        const now = performance.now();
        return Math.max(watch.worst, ...[...this.#asked].map(({ at }) => now - at));
      },
    };
  }

  #timed(answer: unknown): unknown {
    if (!(answer instanceof Promise)) return answer;
    const call = { at: performance.now() };
    this.#asked.add(call);
    const end = (): void => {
      this.#asked.delete(call);
      for (const watch of this.#watches) watch.worst = Math.max(watch.worst, performance.now() - call.at);
    };
    answer.then(end, end);
    return answer;
  }
}
