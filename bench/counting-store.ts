import type { Store } from "everstep/store";

/** What a store was asked since the counts were last looked at. */
export interface StoreCounts {
  /** Every call of whatever kind: the round trips an ideal store would make. */
  readonly calls: number;
  /** Those among them that only look whether another process has written: `changeMark`. */
  readonly looks: number;
  /** Write transactions: every `write`, and every `claim` that found something. */
  readonly transactions: number;
  readonly creates: number;
  readonly boundaries: number;
  readonly claims: number;
  /** Milliseconds of each `claim` that found something. */
  readonly claimMs: readonly number[];
  /** Calls of `readRuns`, and runs whose whole history they asked for: those are replayed. */
  readonly runReads: number;
  readonly replays: number;
  /** Time from the call of `write` and `claim` to their answer, added up. */
  readonly storeMs: number;
}

const none = {
  calls: 0,
  looks: 0,
  transactions: 0,
  creates: 0,
  boundaries: 0,
  claims: 0,
  runReads: 0,
  replays: 0,
  storeMs: 0,
};

export interface CountingStore {
  readonly store: Store;
  /** The counts so far; the next call begins at zero. */
  takeCounts(): StoreCounts;
  /** Resolves when the next suspension of any run is durable. */
  nextSuspension(): Promise<void>;
}

/** The same store, with what is asked of it counted. */
export function countCalls(store: Store): CountingStore {
  let counts = { ...none, claimMs: [] as number[] };
  let onSuspension: (() => void) | null = null;

  const inStore = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    const start = performance.now();
    try {
      return await ask();
    } finally {
      counts.storeMs += performance.now() - start;
    }
  };
  const write: Store["write"] = (requests, now) => {
    counts.calls += 1;
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
  const claim: Store["claim"] = async (request) => {
    counts.calls += 1;
    const start = performance.now();
    const claims = await inStore(() => store.claim(request));
    if (claims.length > 0) {
      counts.transactions += 1;
      counts.claimMs.push(performance.now() - start);
    }
    counts.claims += claims.length;
    return claims;
  };
  const readRuns: Store["readRuns"] = (reads) => {
    counts.calls += 1;
    counts.runReads += 1;
    counts.replays += reads.filter(({ steps }) => steps).length;
    return store.readRuns(reads);
  };

  const counted = new Map<string | symbol, unknown>(Object.entries({ write, claim, readRuns }));
  const methodOf = (target: Store, name: string | symbol): unknown => {
    const value: unknown = Reflect.get(target, name, target);
    if (typeof value !== "function") return value;
    // Private fields are found on the store itself only, so its methods must not be called on the proxy.
    const method = (...args: readonly unknown[]): unknown => {
      counts.calls += 1;
      if (name === "changeMark") counts.looks += 1;
      return Reflect.apply(value, target, args);
    };
    counted.set(name, method);
    return method;
  };
  return {
    store: new Proxy(store, { get: (target, name) => counted.get(name) ?? methodOf(target, name) }),
    takeCounts() {
      const taken = counts;
      counts = { ...none, claimMs: [] };
      return taken;
    },
    nextSuspension: () =>
      new Promise((resolve) => {
        onSuspension = resolve;
      }),
  };
}
