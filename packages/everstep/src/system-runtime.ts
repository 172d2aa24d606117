import type { AsyncScope, Runtime, StrayErrorKind, Timer, Whereabouts } from "./model/runtime.ts";

/**
 * What is asked of the host. Nothing here is imported, so the same file runs on every runtime, and each feature is
 * looked up when it is used, so that a test's fake timers are honoured.
 */
export interface Host {
  readonly Date: { now(): number };
  readonly performance: { now(): number };
  readonly crypto: { randomUUID(): string; getRandomValues(bytes: Uint8Array<ArrayBuffer>): unknown };
  setTimeout(callback: () => void, delayMs: number): unknown;
  clearTimeout(handle: never): void;
  setImmediate?(callback: () => void): unknown;
  readonly MessageChannel?: new () => Channel;
  readonly AsyncLocalStorage?: AsyncStorageClass;
  readonly process?: {
    getBuiltinModule?(
      name: string,
    ): { readonly AsyncLocalStorage?: AsyncStorageClass; readonly hostname?: () => string } | undefined;
    readonly pid?: number;
    on?(event: StrayEvent, listener: (error: unknown) => void): unknown;
    off?(event: StrayEvent, listener: (error: unknown) => void): unknown;
    listenerCount?(event: StrayEvent): number;
  };
}

type StrayEvent = "unhandledRejection" | "uncaughtException";

interface Channel {
  readonly port1: { onmessage: ((event: never) => void) | null; close(): void };
  readonly port2: { postMessage(message: null): void };
}

type AsyncStorageClass = new <Value>() => {
  run<Result>(value: Value, body: () => Result): Result;
  getStore(): Value | undefined;
};

/** The real clock and real randomness; the only place in the library that reads them. */
export const systemRuntime: Runtime = /* @__PURE__ */ createSystemRuntime(globalThis as unknown as Host);

/** The runtime of a host; hosts other than this process are for tests. */
export function createSystemRuntime(host: Host): Runtime {
  return {
    now: () => host.Date.now(),
    monotonic: () => host.performance.now(),
    timer: (callback, delayMs) => startTimer(host, callback, delayMs),
    drained: (callback) => whenDrained(host, callback),
    float: () => Math.random(),
    uuid: () => host.crypto.randomUUID(),
    cuid: createCuid(host),
    weakReference: (value) => new WeakRef(value),
    whereabouts: () => whereaboutsOf(host),
    createScope: <Value>() => createScope<Value>(host),
    onStrayError: createStrayErrors(host),
  };
}

/** Native timers take a 32-bit number of milliseconds; anything longer fires at once. */
const nativeDelayMax = 2 ** 31 - 1;
/** How far two clocks may disagree because of their granularity; more is a clock that was set. */
const granularityMs = 2;

// Native timers may fire up to a millisecond early, and cannot wait for a month. Both are the same repair: ask how
// much is left, and wait again. A timer keeps its process alive, so that a script that only sleeps does not end.
function startTimer(host: Host, callback: () => void, delayMs: number): Timer {
  return new HostTimer(host, callback, delayMs > 0 ? delayMs : 0);
}

/** An object with one closure: every body has a timer for its timeout. */
class HostTimer implements Timer {
  readonly #host: Host;
  readonly #callback: () => void;
  readonly #dueMonotonic: number;
  readonly #dueWall: number;
  #handle: unknown;

  constructor(host: Host, callback: () => void, waitMs: number) {
    this.#host = host;
    this.#callback = callback;
    this.#dueMonotonic = host.performance.now() + waitMs;
    this.#dueWall = host.Date.now() + waitMs;
    this.#arm(waitMs);
  }

  cancel(): void {
    this.#host.clearTimeout(this.#handle as never);
  }

  #arm(leftMs: number): void {
    this.#handle = this.#host.setTimeout(this.#check, Math.min(Math.ceil(leftMs), nativeDelayMax));
  }

  readonly #check = (): void => {
    const leftMs = Math.max(
      this.#dueMonotonic - this.#host.performance.now(),
      withinGranularity(this.#dueWall - this.#host.Date.now()),
    );
    if (leftMs > 0) this.#arm(leftMs);
    else this.#callback();
  };
}

// The wall clock decides only over the last instant: if it was set back by an hour, the timer must not wait that hour.
function withinGranularity(leftMs: number): number {
  return leftMs <= granularityMs ? leftMs : 0;
}

// Each of these is a task of its own, and a task begins only when the microtask queue is empty. All keep their order.
function whenDrained(host: Host, callback: () => void): void {
  if (host.setImmediate !== undefined) host.setImmediate(callback);
  else if (host.MessageChannel !== undefined) postThrough(new host.MessageChannel(), callback);
  else host.setTimeout(callback, 0);
}

// One channel per call: some hosts tie a port to the request in which it was made, and an open one keeps a process alive.
function postThrough(channel: Channel, callback: () => void): void {
  channel.port1.onmessage = () => {
    channel.port1.close();
    callback();
  };
  channel.port2.postMessage(null);
}

const digits = "0123456789abcdefghijklmnopqrstuvwxyz";
const cuidCountMax = 36 ** 3;

/** A letter, 9 digits of time, 3 of a counter and 11 of randomness: ids of one process sort in the order they were made. */
function createCuid(host: Host): () => string {
  const randomDigits = createRandomDigits(host);
  let lastMs = 0;
  let count = 0;
  return () => {
    const nowMs = host.Date.now();
    if (nowMs > lastMs) {
      lastMs = nowMs;
      count = 0;
    } else if (++count === cuidCountMax) {
      lastMs++;
      count = 0;
    }
    return `c${base36(lastMs, 9)}${base36(count, 3)}${randomDigits(11)}`;
  };
}

function base36(value: number, width: number): string {
  return value.toString(36).padStart(width, "0");
}

function createRandomDigits(host: Host): (length: number) => string {
  const pool = new Uint8Array(512);
  let used = pool.length;
  const nextByte = (): number => {
    if (used === pool.length) {
      host.crypto.getRandomValues(pool);
      used = 0;
    }
    return pool[used++] ?? 0;
  };
  return (length) => {
    let text = "";
    while (text.length < length) {
      const byte = nextByte();
      // 252 is the last multiple of 36: bytes above it would favour the first digits.
      if (byte < 252) text += digits[byte % 36];
    }
    return text;
  };
}

// Some hosts ask for a permission first, or say nothing.
function whereaboutsOf({ process }: Host): Whereabouts {
  const pid = process?.pid ?? null;
  try {
    return { host: process?.getBuiltinModule?.("node:os")?.hostname?.() || null, pid };
  } catch {
    return { host: null, pid };
  }
}

function createScope<Value>(host: Host): AsyncScope<Value> {
  const AsyncStorage =
    host.process?.getBuiltinModule?.("node:async_hooks")?.AsyncLocalStorage ?? host.AsyncLocalStorage;
  return AsyncStorage === undefined ? createSyncScope() : createAsyncScope(new AsyncStorage<Value>());
}

function createAsyncScope<Value>(storage: InstanceType<AsyncStorageClass>): AsyncScope<Value> {
  return {
    run: (value, body) => storage.run(value, body),
    current: () => storage.getStore() as Value | undefined,
  };
}

/** Where a host cannot follow a call through its awaits, nested steps must be called before the first await. */
function createSyncScope<Value>(): AsyncScope<Value> {
  let current: Value | undefined;
  return {
    run: (value, body) => {
      const outer = current;
      current = value;
      try {
        return body();
      } finally {
        current = outer;
      }
    },
    current: () => current,
  };
}

// One pair of listeners for the whole process, however many apps it hosts. What none of them takes care of keeps the
// effect it would have without us: if nobody else listens, the process ends.
function createStrayErrors(host: Host): NonNullable<Runtime["onStrayError"]> {
  const handlers = new Set<(error: unknown, kind: StrayErrorKind) => boolean>();
  const isTaken = (error: unknown, kind: StrayErrorKind): boolean => {
    for (const handler of handlers) if (handler(error, kind)) return true;
    return false;
  };
  const rejected = (error: unknown): void => {
    if (isTaken(error, "rejected") || host.process?.listenerCount?.("unhandledRejection") !== 1) return;
    endOver(error);
  };
  const thrown = (error: unknown): void => {
    if (isTaken(error, "thrown") || host.process?.listenerCount?.("uncaughtException") !== 1) return;
    endOver(error);
  };
  const listen = (): void => {
    host.process?.on?.("unhandledRejection", rejected);
    host.process?.on?.("uncaughtException", thrown);
  };
  const stop = (): void => {
    host.process?.off?.("unhandledRejection", rejected);
    host.process?.off?.("uncaughtException", thrown);
  };
  // Thrown again where nobody of us listens any more, so the host does what it always does.
  const endOver = (error: unknown): void => {
    stop();
    whenDrained(host, () => {
      throw error;
    });
  };
  return (handler) => {
    if (handlers.size === 0) listen();
    handlers.add(handler);
    return () => {
      handlers.delete(handler);
      if (handlers.size === 0) stop();
    };
  };
}
