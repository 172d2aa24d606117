import type { ConsumedEvent, HeardEvent } from "../model/boundary.ts";
import { eventsBytes } from "../model/bytes.ts";
import type { EventRecord } from "../model/event.ts";
import { added, none } from "./short-list.ts";

/** The events of a run this turn knows of and nobody has taken, oldest first. */
export class Inbox {
  #events: readonly EventRecord[];
  /** Taken by steps whose records are not durable yet. */
  #taken: readonly EventRecord[] = none;
  #seq: number;
  /** Heard of since the claim, and named by no commit yet. */
  #unnamed: readonly HeardEvent[] = [];
  #namedUpTo = 0;
  #fetching = false;
  /** Of which events the bytes were counted last. */
  #counted: readonly EventRecord[] | null = null;
  #bytes = 0;
  #onFetched: (() => void)[] = [];

  constructor(events: readonly EventRecord[], newestSeq: number) {
    this.#events = events;
    this.#seq = Math.max(newestSeq, events.at(-1)?.seq ?? 0);
    this.#hear(events, newestSeq);
  }

  get events(): readonly EventRecord[] {
    return this.#events;
  }

  /** How much memory the events take. */
  get bytes(): number {
    if (this.#counted !== this.#events) this.#bytes = eventsBytes(this.#events);
    this.#counted = this.#events;
    return this.#bytes;
  }

  /** Sequence of the newest event this turn has taken notice of. */
  get seq(): number {
    return this.#seq;
  }

  add(events: readonly EventRecord[]): void {
    this.#hear(this.#take(events), 0);
  }

  /** Gives those that are new. */
  #take(events: readonly EventRecord[]): readonly EventRecord[] {
    const fresh = events.filter((event) => event.seq > this.#seq);
    if (fresh.length === 0) return fresh;
    this.#events = [...this.#events, ...fresh];
    this.#seq = fresh.at(-1)?.seq ?? this.#seq;
    return fresh;
  }

  /**
   * Its turn goes on under a claim that came after all events up to this one, with those that were read since. What was heard
   * of under the claim before may be gone by now, and another one may have its number: that is still to be named.
   */
  claimed(seq: number, events: readonly EventRecord[]): void {
    const fresh = this.#take(events);
    this.#hear(fresh, seq);
    this.#seq = Math.max(this.#seq, seq);
  }

  /** What the next commit builds on. */
  name(): readonly HeardEvent[] {
    this.#namedUpTo = this.#unnamed.at(-1)?.seq ?? 0;
    return this.#unnamed;
  }

  /** That commit took effect. Should its events be lost, it is lost with them, and the next one is refused. */
  named(): void {
    if (this.#unnamed.length > 0) this.#unnamed = this.#unnamed.filter(({ seq }) => seq > this.#namedUpTo);
  }

  #hear(events: readonly EventRecord[], namedUpTo: number): void {
    const heard = events.filter(({ seq }) => seq > namedUpTo).map(({ seq, id }) => ({ seq, id }));
    if (heard.length > 0) this.#unnamed = [...this.#unnamed, ...heard];
  }

  take(event: EventRecord): void {
    this.#events = this.#events.filter((other) => other.seq !== event.seq);
    this.#taken = added(this.#taken, event);
  }

  /** That they were taken is durable. Gives when each of them was sent, by the step that took it. */
  consumed(consumed: readonly ConsumedEvent[]): ReadonlyMap<string, number> {
    if (consumed.length === 0) return nothing;
    const stepOf = new Map(consumed.map(({ seq, stepKey }) => [seq, stepKey]));
    const durable = this.#taken.filter(({ seq }) => stepOf.has(seq));
    this.#taken = this.#taken.filter(({ seq }) => !stepOf.has(seq));
    return new Map(durable.map(({ seq, createdAt }) => [stepOf.get(seq) as string, createdAt]));
  }

  /** Nobody took it after all. */
  putBack(event: EventRecord): void {
    this.#taken = this.#taken.filter(({ seq }) => seq !== event.seq);
    this.#events = [...this.#events, event].sort((a, b) => a.seq - b.seq);
  }

  /** Reads what is newer. Calls while a read is under way make one more read, so nothing that came meanwhile is missed. */
  fetch(read: (after: number) => Promise<readonly EventRecord[]>, done: () => void): void {
    this.#onFetched.push(done);
    if (this.#fetching) return;
    this.#fetching = true;
    const asked = this.#onFetched.splice(0);
    const fetched = (events: readonly EventRecord[]): void => {
      this.#fetching = false;
      this.add(events);
      for (const told of asked) told();
      const askedMeanwhile = this.#onFetched.pop();
      if (askedMeanwhile) this.fetch(read, askedMeanwhile);
    };
    // If it fails, the next commit or renewal says again that there are newer events.
    read(this.#seq).then(fetched, () => fetched([]));
  }
}

const nothing: ReadonlyMap<string, number> = new Map();
