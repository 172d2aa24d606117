import { toStoredError } from "../authoring/stored-error.ts";
import { type Observer, observerNames } from "../model/observer.ts";

type Name = keyof Observer;
type Tell = (what: unknown, end?: unknown) => unknown;

const names = Object.keys(observerNames) as readonly Name[];

/** Everybody who looks on, as one observer. */
export class Observers {
  /** Tells them all. A method is missing while nobody has it, so that whoever emits makes nothing for nobody. */
  readonly all: Observer;
  #added: readonly { readonly observer: Observer }[] = [];
  readonly #reported = new WeakSet<Observer>();

  constructor(observers: readonly Observer[] = []) {
    // All fields from the beginning, so that it keeps its shape whoever comes and goes.
    this.all = Object.fromEntries(names.map((name) => [name, undefined]));
    for (const observer of observers) this.add(observer);
  }

  /** Gives the way to take it out again. */
  add(observer: Observer): () => void {
    const added = { observer };
    this.#arrange([...this.#added, added]);
    return () => this.#arrange(this.#added.filter((other) => other !== added));
  }

  #arrange(added: readonly { readonly observer: Observer }[]): void {
    this.#added = added;
    const all = this.all as Record<Name, Tell | undefined>;
    for (const name of names) all[name] = this.#teller(name);
  }

  #teller(name: Name): Tell | undefined {
    const listening = this.#added.map(({ observer }) => observer).filter((observer) => observer[name]);
    if (listening.length === 0) return undefined;
    return (what, end) => {
      for (const observer of listening) this.#tell(observer, name, what, end);
    };
  }

  /** Whoever only looks on cannot disturb what goes on. */
  #tell(observer: Observer, name: Name, what: unknown, end: unknown): void {
    try {
      const answer = (observer[name] as Tell).call(observer, what, end);
      // One that tells others over a network fails when the network does, and must not take the process along.
      if (isPromise(answer)) answer.then(undefined, (problem) => this.#failed(observer, name, problem));
    } catch (problem) {
      this.#failed(observer, name, problem);
    }
  }

  /** Said once: it may fail with everything that happens. */
  #failed(observer: Observer, method: Name, problem: unknown): void {
    if (this.#reported.has(observer)) return;
    this.#reported.add(observer);
    const { name, message } = toStoredError(problem);
    this.all.onNotice?.({
      workflowName: null,
      instanceId: null,
      message: `An observer failed in ${method}, which harms nothing else and is said once: ${name}: ${message}`,
    });
  }
}

function isPromise(answer: unknown): answer is PromiseLike<unknown> {
  return (
    typeof answer === "object" && answer !== null && "then" in answer && typeof answer.then === "function"
  );
}
