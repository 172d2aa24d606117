import type { RunId } from "../model/instance.ts";
import type { Runtime } from "../model/runtime.ts";
import { readInPortions } from "../store/read-in-portions.ts";
import type { RunHistory, RunRead, Store } from "../store/store.ts";

interface Asked {
  readonly read: RunRead;
  readonly resolve: (history: RunHistory | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/** Reads of many turns that heard the same news, as one question. */
export class EventReads {
  readonly #store: Store;
  readonly #runtime: Runtime;
  #asked: Asked[] = [];

  constructor(store: Store, runtime: Runtime) {
    this.#store = store;
    this.#runtime = runtime;
  }

  /** Undefined when the run is not there any more. */
  read(read: RunRead): Promise<RunHistory | undefined> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ read, resolve, reject });
      if (this.#asked.length === 1) this.#runtime.drained(() => void this.#ask());
    });
  }

  async #ask(): Promise<void> {
    const asked = this.#asked;
    this.#asked = [];
    // One question per run; who asks twice gets the same answer and knows what is new in it.
    const reads = new Map<RunId, RunRead>();
    for (const { read } of asked) {
      const eventsAfter = Math.min(read.eventsAfter, reads.get(read.runId)?.eventsAfter ?? read.eventsAfter);
      const steps = read.steps || reads.get(read.runId)?.steps === true;
      reads.set(read.runId, { ...read, steps, eventsAfter });
    }
    try {
      const histories = await readInPortions(this.#store, [...reads.values()]);
      const found = new Map(histories.map((history) => [history.runId, history]));
      for (const { read, resolve } of asked) resolve(found.get(read.runId));
    } catch (reason) {
      for (const { reject } of asked) reject(reason);
    }
  }
}
