import type { InstanceRef } from "../model/instance.ts";
import { runnerDefaults } from "../model/limits.ts";
import type { Runtime } from "../model/runtime.ts";
import type { OutcomeOf, Store, StoreOutcome, StoreRequest } from "../store/store.ts";
import type { WriteFacts } from "./hint-questions.ts";
import { Patience } from "./store-patience.ts";
import { type Entry, WriteLane } from "./write-lane.ts";

export interface SubmitOptions {
  /** Whether it is still worth trying again; a commit is while its lease is held. */
  readonly wanted?: () => boolean;
  /** Requests given the same object, one right after the other, share a transaction. */
  readonly bundle?: object;
  /** A try failed that may have taken effect all the same: a refusal later on may be this request's own doing. */
  readonly onUncertain?: () => void;
  /** Whose run it is, for those who hear of outcomes. */
  readonly of?: InstanceRef;
}

/** Hears of every outcome, after whoever asked for it. */
export type WriteListener = (request: StoreRequest, outcome: StoreOutcome, facts: WriteFacts) => void;

export interface CommitGroupOptions {
  readonly patience?: Patience;
  /** A store that was out of reach has answered again. */
  readonly onBack?: () => void;
  readonly onWritten?: WriteListener;
}

/**
 * Everything a process wants to write, gathered into few transactions: whatever arrives while one write is under way
 * goes into the next. Alone a request waits for nobody; under load hundreds share one fsync. Authors' own writes take as
 * long as their authors please: a few of them go beside the rest, which does not wait for them.
 */
export class CommitGroup {
  readonly #together: WriteLane;
  readonly #withMutations: readonly WriteLane[];
  readonly #onWritten: WriteListener | null;
  /** Requests without an outcome. */
  #open = 0;
  /** Requests that have one. */
  #writes = 0;
  #onSettled: (() => void)[] = [];

  constructor(store: Store, runtime: Runtime, options: CommitGroupOptions = {}) {
    const { patience = new Patience(runtime), onBack = () => {} } = options;
    const parts = { store, runtime, patience, onBack };
    const { groupMax, mutationsMax } = runnerDefaults;
    this.#onWritten = options.onWritten ?? null;
    this.#together = new WriteLane(parts, groupMax);
    this.#withMutations = Array.from({ length: mutationsMax }, () => new WriteLane(parts, 1));
  }

  submit<Request extends StoreRequest>(
    request: Request,
    { wanted, bundle, onUncertain, of }: SubmitOptions = {},
  ): Promise<OutcomeOf<Request>> {
    this.#open++;
    return new Promise((resolve, reject) => {
      const settle =
        <Outcome>(told: (outcome: Outcome) => void) =>
        (outcome: Outcome): void => {
          told(outcome);
          this.#close();
        };
      const lane = hasMutations(request) ? shortest(this.#withMutations) : this.#together;
      const entry: Entry = {
        request,
        wanted: wanted ?? null,
        bundle: bundle ?? null,
        onUncertain: onUncertain ?? null,
        resolve: settle(resolve as (outcome: StoreOutcome) => void),
        reject: settle(reject),
        repetitions: 0,
        heldUpSince: null,
      };
      lane.add(this.#onWritten ? overheard(entry, of, this.#onWritten) : entry);
    });
  }

  /** Resolves when everything submitted has its outcome. */
  async settled(): Promise<void> {
    if (this.#open > 0) await new Promise<void>((resolve) => this.#onSettled.push(resolve));
  }

  /** Grows with everything this process has written. */
  get writes(): number {
    return this.#writes;
  }

  #close(): void {
    this.#writes += 1;
    if (--this.#open > 0) return;
    for (const resolve of this.#onSettled.splice(0)) resolve();
  }
}

function overheard(entry: Entry, of: InstanceRef | undefined, listener: WriteListener): Entry {
  let uncertain = false;
  return {
    ...entry,
    onUncertain: () => {
      uncertain = true;
      entry.onUncertain?.();
    },
    resolve: (outcome) => {
      entry.resolve(outcome);
      listener(entry.request, outcome, { of, uncertain });
    },
  };
}

function shortest(lanes: readonly WriteLane[]): WriteLane {
  return lanes.reduce((least, lane) => (lane.length < least.length ? lane : least));
}

function hasMutations(request: StoreRequest): boolean {
  return request.kind === "commit" && request.mutations !== null;
}
