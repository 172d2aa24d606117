export interface QueuedTimer {
  readonly at: number;
  readonly callback: () => void;
}

interface Entry extends QueuedTimer {
  readonly order: number;
  cancelled: boolean;
}

/** Timers by time, ties by creation: a binary heap. A cancelled timer leaves when it comes to the top. */
export class TimerQueue {
  readonly #heap: Entry[] = [];
  #created = 0;

  add(at: number, callback: () => void): { cancel(): void } {
    const entry: Entry = { at, callback, order: this.#created++, cancelled: false };
    this.#heap.push(entry);
    this.#up(this.#heap.length - 1);
    return {
      cancel: () => {
        entry.cancelled = true;
      },
    };
  }

  /** When the earliest timer is due; undefined when there is none. */
  get nextAt(): number | undefined {
    while (this.#heap[0]?.cancelled) this.#pop();
    return this.#heap[0]?.at;
  }

  /** Takes out the earliest timer if it is due at `time`. */
  takeDue(time: number): QueuedTimer | undefined {
    const { nextAt } = this;
    return nextAt !== undefined && nextAt <= time ? this.#pop() : undefined;
  }

  #pop(): Entry | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (last !== undefined && last !== first) {
      this.#heap[0] = last;
      this.#down(0);
    }
    return first;
  }

  #up(from: number): void {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.#swapWhenBefore(place, parent)) return;
      place = parent;
    }
  }

  #down(from: number): void {
    let place = from;
    for (;;) {
      const left = 2 * place + 1;
      const child = this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#swapWhenBefore(child, place)) return;
      place = child;
    }
  }

  #swapWhenBefore(a: number, b: number): boolean {
    if (!this.#isBefore(a, b)) return false;
    const entry = this.#heap[a] as Entry;
    this.#heap[a] = this.#heap[b] as Entry;
    this.#heap[b] = entry;
    return true;
  }

  #isBefore(a: number, b: number): boolean {
    const first = this.#heap[a];
    const second = this.#heap[b];
    if (first === undefined || second === undefined) return false;
    return first.at < second.at || (first.at === second.at && first.order < second.order);
  }
}
