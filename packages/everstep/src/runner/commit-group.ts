import { runnerDefaults } from "../model/limits.ts";
import type { Observer } from "../model/observer.ts";
import type { Runtime } from "../model/runtime.ts";
import type { OutcomeOf, Store, StoreOutcome, StoreRequest } from "../store/store.ts";
import { ObservedEntry } from "./observed-entry.ts";
import { Patience } from "./store-patience.ts";
import { Entry, type LaneParts, WriteLane, type WriteSubject } from "./write-lane.ts";

export interface SubmitOptions {
  /** Requests given the same object, one right after the other, share a transaction. */
  readonly bundle?: object;
  /** Told first, when a try failed that may have taken effect: a refusal may be this request's own doing. */
  readonly onUncertain?: () => void;
  /** Whose run it is, for those who hear of outcomes. */
  readonly of?: WriteSubject;
}

export interface CommitGroupOptions {
  readonly patience?: Patience;
  /** A store that was out of reach has answered again. */
  readonly onBack?: () => void;
  /** Hears of every outcome, after whoever asked for it. */
  readonly observer?: Observer;
}

/**
 * Everything a process wants to write, gathered into few transactions: whatever arrives while one write is under way
 * goes into the next. Alone a request waits for nobody; under load hundreds share one fsync. A store behind a network
 * gets a second write while it works on the first. Authors' own writes take as long as their authors please: a few of
 * them go beside the rest, which does not wait for them.
 */
export class CommitGroup {
  readonly #together: readonly WriteLane[];
  readonly #withMutations: readonly WriteLane[];
  readonly #runtime: Runtime;
  readonly #observer: Observer;
  /** Requests without an outcome. */
  #open = 0;
  /** Requests that have one. */
  #writes = 0;
  #onSettled: (() => void)[] = [];

  constructor(store: Store, runtime: Runtime, options: CommitGroupOptions = {}) {
    const { patience = new Patience(runtime), onBack = () => {}, observer = {} } = options;
    const onSettled: LaneParts["onSettled"] = (entry, outcome, error, at) =>
      this.#settled(entry, outcome, error, at);
    const parts = { store, runtime, patience, onBack, onSettled };
    const { groupMax, mutationsMax } = runnerDefaults;
    this.#runtime = runtime;
    this.#observer = observer;
    this.#together = Array.from(
      { length: Math.max(1, store.writesAtOnce ?? 1) },
      () => new WriteLane(parts, groupMax),
    );
    this.#withMutations = Array.from({ length: mutationsMax }, () => new WriteLane(parts, 1));
  }

  submit<Request extends StoreRequest>(
    request: Request,
    options: SubmitOptions = {},
  ): Promise<OutcomeOf<Request>> {
    return new Promise((resolve, reject) => {
      const since = this.#runtime.monotonic();
      this.send(new Submission(request, options, since, resolve as (outcome: StoreOutcome) => void, reject));
    });
  }

  /** The same for those who are told otherwise than by a promise. */
  send(entry: Entry): void {
    this.#open++;
    this.#laneFor(entry).add(entry);
  }

  /**
   * A run has one commit under way at most, and whatever else happens to it may come before or after that: commits go
   * wherever there is room. Everything else keeps the order in which it was asked for.
   */
  #laneFor({ request }: Entry): WriteLane {
    if (request.kind !== "commit") return this.#together[0] as WriteLane;
    return shortest(request.mutations === null ? this.#together : this.#withMutations);
  }

  /** Resolves when everything submitted has its outcome. */
  async settled(): Promise<void> {
    if (this.#open > 0) await new Promise<void>((resolve) => this.#onSettled.push(resolve));
  }

  /** Grows with everything this process has written. */
  get writes(): number {
    return this.#writes;
  }

  #settled(entry: Entry, outcome: StoreOutcome | null, error: unknown, at: number): void {
    this.#observer.onWrite?.(new ObservedEntry(entry, outcome, error, at));
    this.#writes += 1;
    if (--this.#open > 0) return;
    for (const resolve of this.#onSettled.splice(0)) resolve();
  }
}

class Submission extends Entry {
  readonly #options: SubmitOptions;
  readonly #resolve: (outcome: StoreOutcome) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    request: StoreRequest,
    options: SubmitOptions,
    since: number,
    resolve: (outcome: StoreOutcome) => void,
    reject: (error: unknown) => void,
  ) {
    super(request, options.of, since, options.bundle);
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  isWanted(): null {
    return null;
  }

  resolve(outcome: StoreOutcome): void {
    if (this.uncertain) this.#options.onUncertain?.();
    this.#resolve(outcome);
  }

  reject(error: unknown): void {
    if (this.uncertain) this.#options.onUncertain?.();
    this.#reject(error);
  }
}

function shortest(lanes: readonly WriteLane[]): WriteLane {
  let least = lanes[0] as WriteLane;
  for (const lane of lanes) if (lane.backlog < least.backlog) least = lane;
  return least;
}
