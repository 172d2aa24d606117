import type { SqliteStore } from "everstep/sqlite";

/** What a store was asked to write since the counts were last looked at. */
export interface WriteCounts {
  /** Write transactions: every `write`, and every `claim` that found something. */
  readonly transactions: number;
  readonly creates: number;
  readonly boundaries: number;
  readonly claims: number;
  /** Time spent inside `write` and `claim`. The store works synchronously, so it is the time until they return. */
  readonly storeMs: number;
}

const none: WriteCounts = { transactions: 0, creates: 0, boundaries: 0, claims: 0, storeMs: 0 };

export interface CountingStore {
  readonly store: SqliteStore;
  /** The counts so far; the next call begins at zero. */
  takeCounts(): WriteCounts;
  /** Resolves when the next suspension of any run is durable. */
  nextSuspension(): Promise<void>;
}

/** The same store, with its write transactions counted. */
export function countWrites(store: SqliteStore): CountingStore {
  let counts = { ...none };
  let onSuspension: (() => void) | null = null;

  const inStore = <Answer>(ask: () => Answer): Answer => {
    const start = performance.now();
    const answer = ask();
    counts.storeMs += performance.now() - start;
    return answer;
  };
  const write: SqliteStore["write"] = (requests, now) => {
    counts.transactions += 1;
    let suspends = false;
    for (const request of requests) {
      if (request.kind === "create") counts.creates += 1;
      if (request.kind !== "commit") continue;
      counts.boundaries += 1;
      suspends ||= request.boundary.next.kind === "suspend";
    }
    const written = inStore(() => store.write(requests, now));
    return suspends && onSuspension ? written.finally(onSuspension) : written;
  };
  const claim: SqliteStore["claim"] = async (request) => {
    const claims = await inStore(() => store.claim(request));
    if (claims.length > 0) counts.transactions += 1;
    counts.claims += claims.length;
    return claims;
  };

  const counted = new Map<string | symbol, unknown>(Object.entries({ write, claim }));
  return {
    store: new Proxy(store, { get: (target, name) => counted.get(name) ?? bound(target, name) }),
    takeCounts() {
      const taken = counts;
      counts = { ...none };
      return taken;
    },
    nextSuspension: () =>
      new Promise((resolve) => {
        onSuspension = resolve;
      }),
  };
}

/** Private fields are found on the store itself only, so its methods must not be called on the proxy. */
function bound(store: SqliteStore, name: string | symbol): unknown {
  const value: unknown = Reflect.get(store, name, store);
  return typeof value === "function" ? value.bind(store) : value;
}
