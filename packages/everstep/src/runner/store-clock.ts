/**
 * One clock for all processes on a store: the store's own. It is asked now and then, and what passes in between is
 * measured by the monotonic clock, so a host whose wall clock is wrong, or is set, wakes nobody early and takes no lease
 * that is in force.
 */
import type { Runtime } from "../model/runtime.ts";
import type { Store } from "../store/store.ts";

interface Reading {
  /** What the store's clock said at the monotonic time `at`. */
  readonly time: number;
  readonly at: number;
  /** The wall clock then. */
  readonly wall: number;
  /** How far off it may be: half of what the question took. */
  readonly errorMs: number;
}

/** A reading is renewed after this long. */
const freshMs = 30_000;
/** Monotonic clocks of two machines drift apart by less than this part of the time. */
const drift = 0.0005;
/** By how much two readings may drift apart before they are renewed. */
const driftMs = 2 * freshMs * drift;
/** The wall clock left the monotonic one by this much: somebody set it, or the machine slept. */
const jumpMs = 500;

export class StoreClock {
  /** The given runtime, with the store's time as `now` where the store has a clock. */
  readonly runtime: Runtime;
  readonly #host: Runtime;
  readonly #store: Pick<Store, "serverTime">;
  #reading: Reading | null = null;
  #asking: Promise<void> | null = null;

  constructor(host: Runtime, store: Pick<Store, "serverTime">) {
    this.#host = host;
    this.#store = store;
    this.runtime = store.serverTime
      ? { ...host, now: () => this.#now(), behindMs: () => this.#behindMs() }
      : host;
  }

  /**
   * To be waited for where the store was never asked or the machine's clock has jumped; an old reading is renewed beside,
   * and null says: go on.
   */
  freshen(): Promise<void> | null {
    if (!this.#store.serverTime || !this.#isStale()) return null;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    // A machine that slept would take its old time for the present.
    if (this.#reading === null || this.#jumped(this.#reading)) return this.#asking;
    this.#asking.catch(() => {});
    return null;
  }

  /** The earliest it can be: whoever takes what is due, or a lease that is over, must not be ahead of anybody. */
  #now(): number {
    const reading = this.#reading;
    if (reading === null) return this.#host.now();
    return Math.floor(reading.time + this.#host.monotonic() - reading.at - reading.errorMs);
  }

  #behindMs(): number {
    return this.#reading === null ? 0 : Math.ceil(this.#reading.errorMs * 2 + driftMs);
  }

  #isStale(): boolean {
    const reading = this.#reading;
    return reading === null || this.#jumped(reading) || this.#host.monotonic() - reading.at > freshMs;
  }

  #jumped({ wall, at }: Reading): boolean {
    const apart = this.#host.now() - wall - (this.#host.monotonic() - at);
    return Math.abs(apart) > jumpMs;
  }

  async #ask(): Promise<void> {
    const before = this.#host.monotonic();
    const wallBefore = this.#host.now();
    const time = await this.#store.serverTime?.();
    if (time === undefined) return;
    const after = this.#host.monotonic();
    // It slept, or was set, while it asked: nobody knows how old the answer is.
    if (Math.abs(this.#host.now() - wallBefore - (after - before)) > jumpMs) return this.#ask();
    const errorMs = (after - before) / 2;
    const old = this.#reading;
    const at = before + errorMs;
    const wall = this.#host.now() - errorMs;
    // A slow answer says less than a good reading of a while ago, unless that one is over.
    const oldErrorMs = old === null ? Number.POSITIVE_INFINITY : old.errorMs + (at - old.at) * drift;
    const isBetter = errorMs <= oldErrorMs;
    const disagrees = old === null || Math.abs(old.time + (at - old.at) - time) > oldErrorMs + errorMs;
    this.#reading =
      isBetter || disagrees || old === null ? { time, at, wall, errorMs } : { ...shifted(old, at), wall };
  }
}

/** The same clock, read at another time. */
function shifted(old: Reading, at: number): Reading {
  const passed = at - old.at;
  return { ...old, time: old.time + passed, at, errorMs: old.errorMs + passed * drift };
}
