import type { InstanceRecord, InstanceRef } from "../model/instance.ts";
import type { Runtime } from "../model/runtime.ts";
import { isRetryable } from "../runner/store-patience.ts";
import type { Store } from "../store/store.ts";

/** Instances read at once: with params and outputs, so no more than a page shows. */
const readMax = 100;

type Found = InstanceRecord | undefined;

interface Asked {
  readonly ref: InstanceRef;
  readonly resolve: (found: Found) => void;
  readonly reject: (reason: unknown) => void;
}

/** Instances that are asked for in the same moment, by whomever, read in one question. */
export class InstanceReads {
  readonly #store: Pick<Store, "getInstance" | "getInstances">;
  readonly #runtime: Pick<Runtime, "drained">;
  #asked: Asked[] = [];

  constructor(store: Pick<Store, "getInstance" | "getInstances">, runtime: Pick<Runtime, "drained">) {
    this.#store = store;
    this.#runtime = runtime;
  }

  get(ref: InstanceRef): Promise<Found> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ ref, resolve, reject });
      if (this.#asked.length === 1) this.#runtime.drained(() => this.#ask());
    });
  }

  #ask(): void {
    const asked = this.#asked;
    this.#asked = [];
    for (let at = 0; at < asked.length; at += readMax) void this.#read(asked.slice(at, at + readMax));
  }

  async #read(asked: readonly Asked[]): Promise<void> {
    try {
      const found = await this.#records(asked.map(({ ref }) => ref));
      for (const [at, { resolve }] of asked.entries()) resolve(found[at]);
    } catch (reason) {
      if (asked.length === 1 || isRetryable(reason)) for (const { reject } of asked) reject(reason);
      // One that cannot be read must not keep the others from theirs.
      else for (const each of asked) void this.#read([each]);
    }
  }

  async #records(refs: readonly InstanceRef[]): Promise<readonly Found[]> {
    const [first, ...others] = refs;
    if (first === undefined) return [];
    return others.length === 0 ? [await this.#store.getInstance(first)] : this.#store.getInstances(refs);
  }
}
