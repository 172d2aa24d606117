import { endedStatus, type Next } from "../model/boundary.ts";
import type { InstanceRef, InstanceStatus } from "../model/instance.ts";
import type { EncodedValue, StoredError } from "../model/value.ts";

export interface Ended {
  readonly status: InstanceStatus;
  readonly output: EncodedValue | null;
  readonly error: StoredError | null;
}

export interface EndListener {
  ended(ended: Ended): void;
  /** It is gone, and will never end. */
  deleted(): void;
  /** Nobody in this process will tell any more. */
  stopped(): void;
}

/** Who in this process waits for an instance to end; told the moment the last commit is durable. */
export class Endings {
  readonly #listeners = new Map<string, Set<EndListener>>();

  listen(ref: InstanceRef, listener: EndListener): () => void {
    const key = keyOf(ref);
    const listeners = this.#listeners.get(key) ?? new Set();
    listeners.add(listener);
    this.#listeners.set(key, listeners);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(key);
    };
  }

  isAwaited(ref: InstanceRef): boolean {
    return this.#listeners.has(keyOf(ref));
  }

  ended(ref: InstanceRef, next: Next): void {
    switch (next.kind) {
      case "complete":
        return this.#tell(ref, { status: endedStatus(next), output: next.output, error: null });
      case "error":
        return this.#tell(ref, { status: endedStatus(next), output: null, error: next.error });
      case "terminate":
        return this.#tell(ref, { status: endedStatus(next), output: null, error: null });
      case "continue":
      case "suspend":
      case "yield":
        return;
    }
  }

  deleted(ref: InstanceRef): void {
    for (const listener of [...(this.#listeners.get(keyOf(ref)) ?? [])]) listener.deleted();
  }

  #tell(ref: InstanceRef, ended: Ended): void {
    for (const listener of this.#listeners.get(keyOf(ref)) ?? []) listener.ended(ended);
  }

  stop(): void {
    for (const listeners of [...this.#listeners.values()])
      for (const listener of [...listeners]) listener.stopped();
  }
}

function keyOf(ref: InstanceRef): string {
  return `${ref.workflowName}/${ref.instanceId}`;
}
