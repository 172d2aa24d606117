/** One direction of a proxied connection: what comes in goes out in the same order, later, in part or never. */
import type { Socket } from "node:net";
import { monotonic } from "./time.ts";

interface Parcel {
  /** null: the sender has closed. */
  readonly data: Buffer | null;
  readonly readyAt: number;
}

export class Lane {
  readonly #to: Socket;
  readonly #parcels: Parcel[] = [];
  #muted = false;
  #losing = false;
  /** Bytes were lost: what comes after them would make no sense to anybody. */
  #torn = false;
  #timer: NodeJS.Timeout | null = null;
  /** Called in place of the next delivery. */
  #ambush: ((data: Buffer) => void) | null = null;

  constructor(to: Socket) {
    this.#to = to;
  }

  send(data: Buffer | null, delayMs: number): void {
    if (data !== null && (this.#losing || this.#torn)) {
      this.#torn = true;
      return;
    }
    this.#parcels.push({ data, readyAt: monotonic() + delayMs });
    this.#deliver();
  }

  /** Keeps everything to itself until it is unmuted; then all of it arrives. */
  mute(): void {
    this.#muted = true;
  }

  unmute(): void {
    this.#muted = false;
    this.#deliver();
  }

  /** Swallows what is said until it recovers. Of a connection that lost something only its end arrives, and only then. */
  lose(): void {
    this.#losing = true;
    const ends = this.#parcels.filter(({ data }) => data === null);
    if (ends.length < this.#parcels.length) this.#torn = true;
    this.#parcels.splice(0, this.#parcels.length, ...ends);
  }

  recover(): void {
    this.#losing = false;
    this.#deliver();
  }

  ambushNext(ambush: (data: Buffer) => void): void {
    this.#ambush = ambush;
  }

  /** Only this much arrives. */
  deliverPart(data: Buffer, bytes: number): void {
    if (!this.#to.destroyed) this.#to.write(data.subarray(0, bytes));
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#parcels.length = 0;
  }

  #deliver(): void {
    while (!this.#muted && !this.#losing && this.#parcels[0]) {
      const waitMs = this.#parcels[0].readyAt - monotonic();
      if (waitMs > 0) return this.#later(waitMs);
      this.#hand((this.#parcels.shift() as Parcel).data);
    }
  }

  #later(waitMs: number): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#deliver(), Math.ceil(waitMs));
  }

  #hand(data: Buffer | null): void {
    if (this.#to.destroyed) return;
    const ambush = this.#ambush;
    if (data === null) this.#to.end();
    else if (ambush === null) this.#to.write(data);
    else {
      this.#ambush = null;
      ambush(data);
    }
  }
}
