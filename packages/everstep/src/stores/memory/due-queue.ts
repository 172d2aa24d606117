import type { Run } from "./run.ts";

/**
 * Runs by due time, then by creation: a binary heap in which every run knows its own place, so that a run whose due
 * time changes is moved and never left behind as a stale entry.
 */
export class DueQueue {
  readonly #heap: Run[] = [];

  get first(): Run | undefined {
    return this.#heap[0];
  }

  /** Adds the run, or moves it to where its due time now belongs. */
  put(run: Run): void {
    if (run.queue !== this) {
      run.queue?.remove(run);
      run.queue = this;
      run.place = this.#heap.length;
      this.#heap.push(run);
    }
    this.#settle(run);
  }

  remove(run: Run): void {
    const last = this.#heap.pop() as Run;
    if (last !== run) {
      this.#set(last, run.place);
      this.#settle(last);
    }
    run.queue = null;
  }

  #settle(run: Run): void {
    while (run.place > 0 && this.#swapWhenBefore(run, (run.place - 1) >> 1)) {}
    for (let child = this.#firstChild(run); child !== undefined && isBefore(child, run); ) {
      this.#swap(run, child);
      child = this.#firstChild(run);
    }
  }

  #swapWhenBefore(run: Run, place: number): boolean {
    const parent = this.#heap[place] as Run;
    if (!isBefore(run, parent)) return false;
    this.#swap(run, parent);
    return true;
  }

  #firstChild(run: Run): Run | undefined {
    const left = this.#heap[2 * run.place + 1];
    const right = this.#heap[2 * run.place + 2];
    return left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
  }

  #swap(a: Run, b: Run): void {
    const place = a.place;
    this.#set(a, b.place);
    this.#set(b, place);
  }

  #set(run: Run, place: number): void {
    run.place = place;
    this.#heap[place] = run;
  }
}

export function isBefore(a: Run, b: Run): boolean {
  const [dueAt, other] = [a.row.dueAt, b.row.dueAt];
  return dueAt < other || (dueAt === other && a.id < b.id);
}
