/** How an app gets at its store: by the store's time, once its tables are there, and patiently while it is out of reach. */
import { EverstepError } from "../model/error.ts";
import type { Observer } from "../model/observer.ts";
import type { Runtime } from "../model/runtime.ts";
import { observedStore } from "../runner/observed-store.ts";
import { StoreClock } from "../runner/store-clock.ts";
import { appStopped, Patience } from "../runner/store-patience.ts";
import type { MigrateOptions, MigrationReport, Store } from "../store/store.ts";
import { systemRuntime } from "../system-runtime.ts";
import { problemListener } from "./listeners.ts";
import { patientReads, type StoreReads } from "./patient-reads.ts";

export class StoreAccess {
  /** As it was given, and telling of its calls. */
  readonly store: Store;
  /** The host's, with the store's time where the store has a clock. */
  readonly runtime: Runtime;
  readonly patience: Patience;
  readonly reads: StoreReads;
  readonly #clock: StoreClock;
  readonly #tell: (problem: unknown) => void;
  #migrated: Promise<MigrationReport> | null = null;
  #isMigrated = false;
  #isStopped = false;

  constructor(
    store: Store,
    given: Partial<Runtime> = {},
    observer: Observer = {},
    onProblem?: (problem: unknown) => void,
  ) {
    const runtime = { ...systemRuntime, ...given };
    this.store = observedStore(store, observer, runtime);
    this.#tell = problemListener(onProblem);
    // A clock that the host brings along rules; otherwise the store's own does, where it has one.
    const isOwn = given.now !== undefined && !given.followsStore;
    this.#clock = new StoreClock(runtime, isOwn ? {} : this.store);
    this.runtime = this.#clock.runtime;
    this.patience = new Patience(this.runtime);
    this.reads = patientReads(this.store, this.patience, this.runtime);
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  readonly onProblem = (problem: unknown): void => {
    // A stop ends the wait for a store out of reach, and closes it under what did not answer in time: its own doing, and
    // nobody's problem.
    if (!this.#isStopped || !isEndOfWaiting(problem)) this.#tell(problem);
  };

  /** To be waited for where it is not known what time it is. */
  freshenClock(): Promise<void> | null {
    return this.#clock.freshen();
  }

  migrate({ plan }: MigrateOptions = {}): Promise<MigrationReport> {
    if (plan) return this.patience.patiently(() => this.store.migrate({ plan: true }), this.onProblem);
    this.#migrated ??= this.patience
      .patiently(() => this.store.migrate(), this.onProblem)
      .then(
        (report) => {
          this.#isMigrated = true;
          return report;
        },
        (error: unknown) => {
          this.#migrated = null;
          throw error;
        },
      );
    return this.#migrated;
  }

  /** As `AppParts.ready`. Nothing to wait for is the usual case by far. */
  ready(tx?: unknown): Promise<void> | undefined {
    if (this.#isStopped) throw appStopped();
    return this.#isMigrated && this.#clock.freshen() === null ? undefined : this.#getReady(tx);
  }

  async #getReady(tx: unknown): Promise<void> {
    if (tx === undefined) await (this.#migrated ?? this.migrate());
    else if (this.#migrated === null) requireTables(await this.migrate({ plan: true }));
    // Asked again only while it is not known: somebody else's question may have been answered meanwhile.
    if (this.#clock.freshen()) {
      await this.patience.patiently(async () => this.#clock.freshen(), this.onProblem);
    }
    if (this.#isStopped) throw appStopped();
  }

  /** What the store's settings cannot keep, one problem each. Not to know is one too, but keeps nobody from starting. */
  async warnings(): Promise<readonly unknown[]> {
    try {
      const warnings = (await this.store.warnings?.()) ?? [];
      return warnings.map(
        ({ code, message }) => new EverstepError("STORE_UNSAFE", message, { details: { warning: code } }),
      );
    } catch (problem) {
      return [problem];
    }
  }

  /** Nobody may use the store any more. */
  stop(): void {
    this.#isStopped = true;
  }
}

function requireTables({ statements }: MigrationReport): void {
  if (statements.length === 0) return;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    "The store's tables are not there yet, or not up to date, and are made neither by a check nor inside a transaction " +
      "of yours. Call app.migrate() or app.start() before.",
  );
}

function isEndOfWaiting(problem: unknown): boolean {
  return problem instanceof EverstepError && ["STORE_CLOSED", "APP_STOPPED"].includes(problem.code);
}
