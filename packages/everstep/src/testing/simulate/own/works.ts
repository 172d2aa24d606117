/**
 * Code of somebody's own that has begun and not ended: bodies, workflow functions, the scenario, invariants. While one of
 * them is at real work (a promise, a file, a real timer) no virtual time passes, so nothing can happen to it meanwhile:
 * it is cut off before, after, or where it waits on the simulated clock, and nowhere else.
 */
import { formatDuration } from "../../../authoring/duration.ts";
import { EverstepError } from "../../../model/error.ts";
import type { AsyncScope } from "../../../model/runtime.ts";
import { systemRuntime } from "../../../system-runtime.ts";
import type { TestProcess } from "../../test-process.ts";

/** Who is at work, and which time and chance it has. */
export interface Worker {
  /** In words, for the one who waits too long: step "charge" of order "o-1". */
  readonly what: string;
  /** Where it runs; null for what is outside of all processes. */
  readonly process: TestProcess | null;
  readonly now: () => number;
  readonly float: () => number;
  /** How many times it waits for that come by themselves. */
  naps: number;
}

interface Work {
  readonly worker: Worker;
  /** How many things it waits for that virtual time brings. */
  waits: number;
  isOver: boolean;
}

const scope: AsyncScope<Work> = /* @__PURE__ */ systemRuntime.createScope<Work>();

/** Whose code is asking, if it is code of a simulation. */
export function currentWorker(): Worker | undefined {
  return scope.current()?.worker;
}

/** Waits for something that virtual time brings: whoever asks is not at real work meanwhile. */
export function waiting<Result>(awaited: Promise<Result>): Promise<Result> {
  return Works.waitingFor(scope.current(), awaited);
}

/** The same for a time that comes by itself, and not only if somebody goes on. */
export function napping<Result>(nap: Promise<Result>): Promise<Result> {
  const worker = currentWorker();
  if (!worker) return nap;
  worker.naps++;
  return waiting(
    nap.finally(() => {
      worker.naps--;
    }),
  );
}

export class Works {
  static readonly #all = new WeakMap<Work, Works>();
  readonly #patienceMs: number;
  readonly #busy = new Set<Work>();
  #onIdle: (() => void) | null = null;

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  static waitingFor<Result>(work: Work | undefined, awaited: Promise<Result>): Promise<Result> {
    const works = work && Works.#all.get(work);
    if (!work || !works) return awaited;
    work.waits++;
    works.#look(work);
    return new Promise((resolve, reject) => {
      const goOn = (settle: () => void): void => {
        work.waits--;
        works.#look(work);
        settle();
      };
      awaited.then(
        (value) => goOn(() => resolve(value)),
        (error) => goOn(() => reject(error)),
      );
    });
  }

  get isBusy(): boolean {
    return this.#busy.size > 0;
  }

  async run<Result>(worker: Worker, code: () => Promise<Result> | Result): Promise<Result> {
    const work: Work = { worker, waits: 0, isOver: false };
    Works.#all.set(work, this);
    this.#look(work);
    try {
      return await scope.run(work, async () => code());
    } finally {
      work.isOver = true;
      this.#look(work);
    }
  }

  /** The same for code that ends at once. */
  runNow<Result>(worker: Worker, code: () => Result): Result {
    return scope.run({ worker, waits: 0, isOver: true }, code);
  }

  /** In real time, until nobody is at real work. */
  settled(): Promise<void> {
    if (!this.isBusy) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = systemRuntime.timer(() => {
        this.#onIdle = null;
        reject(this.#tooLong());
      }, this.#patienceMs);
      this.#onIdle = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  #look(work: Work): void {
    if (!work.isOver && work.waits === 0) this.#busy.add(work);
    else this.#busy.delete(work);
    if (this.isBusy) return;
    const onIdle = this.#onIdle;
    this.#onIdle = null;
    onIdle?.();
  }

  #tooLong(): EverstepError {
    const [first] = this.#busy;
    return new EverstepError(
      "INVALID_ARGUMENT",
      `${first?.worker.what ?? "Something"} has been at real work for ${formatDuration(this.#patienceMs)}, and a simulation ` +
        "stands still meanwhile. Give it something that answers from memory; to play that something takes its time, use " +
        "`await clock.sleep(...)` of the simulation; or raise `patience`.",
    );
  }
}
