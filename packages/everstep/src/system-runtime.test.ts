import { hostname } from "node:os";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createSystemRuntime, type Host, systemRuntime } from "./system-runtime.ts";

const day = 24 * 60 * 60 * 1000;
const here = globalThis as unknown as Host;

function waited(delayMs: number): Promise<void> {
  return new Promise((resolve) => systemRuntime.timer(resolve, delayMs));
}

describe("clocks", () => {
  test("now is the wall clock, monotonic never goes back", () => {
    const before = Date.now();
    const now = systemRuntime.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
    const readings = Array.from({ length: 1000 }, () => systemRuntime.monotonic());
    expect(readings.toSorted((a, b) => a - b)).toEqual(readings);
  });
});

describe("a timer", () => {
  test("is never early by either clock", async () => {
    await Promise.all(
      [0, 1, 1.5, 2, 5, 10, 10.1].flatMap((delayMs) =>
        Array.from({ length: 20 }, async () => {
          const [wall, monotonic] = [Date.now(), performance.now()];
          await waited(delayMs);
          expect(performance.now() - monotonic).toBeGreaterThanOrEqual(delayMs);
          expect(Date.now() - wall).toBeGreaterThanOrEqual(Math.floor(delayMs));
        }),
      ),
    );
  });

  test.each([0, -5, Number.NaN])("of %d fires soon, but not at once", async (delayMs) => {
    let fired = false;
    const timer = new Promise<void>((resolve) => {
      systemRuntime.timer(() => {
        fired = true;
        resolve();
      }, delayMs);
    });
    expect(fired).toBe(false);
    await timer;
  });

  describe("with the time in our hands", () => {
    beforeEach(() => {
      vi.useFakeTimers();
    });
    afterEach(() => {
      vi.restoreAllMocks();
      vi.useRealTimers();
    });

    test.each([24.9, 25, 49.8, 365])("of %d days fires after them and not before", (days) => {
      const fired = vi.fn();
      const native = vi.spyOn(globalThis, "setTimeout");
      systemRuntime.timer(fired, days * day);
      vi.advanceTimersByTime(days * day - 1);
      expect(fired).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(fired).toHaveBeenCalledTimes(1);
      vi.advanceTimersByTime(400 * day);
      expect(fired).toHaveBeenCalledTimes(1);
      for (const [, delayMs] of native.mock.calls) expect(delayMs).toBeLessThanOrEqual(2 ** 31 - 1);
    });

    test("that waits for ever never fires", () => {
      const fired = vi.fn();
      systemRuntime.timer(fired, Number.POSITIVE_INFINITY);
      vi.advanceTimersByTime(1000 * day);
      expect(fired).not.toHaveBeenCalled();
    });

    test("can be cancelled before it fires, between two of its parts, and after", () => {
      const fired = vi.fn();
      const soon = systemRuntime.timer(fired, 10);
      soon.cancel();
      const late = systemRuntime.timer(fired, 100 * day);
      vi.advanceTimersByTime(60 * day);
      late.cancel();
      vi.advanceTimersByTime(60 * day);
      expect(fired).not.toHaveBeenCalled();
      expect(vi.getTimerCount()).toBe(0);
      const done = systemRuntime.timer(fired, 10);
      vi.advanceTimersByTime(10);
      done.cancel();
      done.cancel();
      expect(fired).toHaveBeenCalledTimes(1);
    });
  });

  describe("on a host whose timers are imprecise", () => {
    function impreciseHost() {
      const state = {
        wall: 1_000_000,
        monotonic: 0,
        armed: [] as { callback: () => void; delayMs: number }[],
      };
      const host = {
        ...here,
        Date: { now: () => Math.floor(state.wall) },
        performance: { now: () => state.monotonic },
        setTimeout: (callback: () => void, delayMs: number) => state.armed.push({ callback, delayMs }),
        clearTimeout: () => {},
      } as unknown as Host;
      const fireAfter = (ms: number, wallMs = ms): void => {
        state.monotonic += ms;
        state.wall += wallMs;
        state.armed.shift()?.callback();
      };
      return { runtime: createSystemRuntime(host), state, fireAfter };
    }

    test("it waits for the rest when it was woken early", () => {
      const { runtime, state, fireAfter } = impreciseHost();
      const fired = vi.fn();
      runtime.timer(fired, 10);
      fireAfter(9.2);
      expect(fired).not.toHaveBeenCalled();
      expect(state.armed[0]?.delayMs).toBe(1);
      fireAfter(0.8);
      expect(fired).toHaveBeenCalledTimes(1);
    });

    test("it waits until the wall clock, too, has reached the moment", () => {
      const { runtime, fireAfter } = impreciseHost();
      const fired = vi.fn();
      runtime.timer(fired, 10);
      fireAfter(10, 9);
      expect(fired).not.toHaveBeenCalled();
      fireAfter(1);
      expect(fired).toHaveBeenCalledTimes(1);
    });

    test("it does not wait an hour because the wall clock was set back an hour", () => {
      const { runtime, fireAfter } = impreciseHost();
      const fired = vi.fn();
      runtime.timer(fired, 10);
      fireAfter(10, -3_600_000);
      expect(fired).toHaveBeenCalledTimes(1);
    });

    test("it does not fire early because the wall clock was set forward", () => {
      const { runtime, state, fireAfter } = impreciseHost();
      const fired = vi.fn();
      runtime.timer(fired, 10);
      fireAfter(4, 3_600_000);
      expect(fired).not.toHaveBeenCalled();
      expect(state.armed[0]?.delayMs).toBe(6);
    });
  });
});

describe("drained", () => {
  const hosts: [string, Host][] = [
    ["setImmediate", here],
    [
      "a MessageChannel",
      { ...here, MessageChannel, Date, performance, crypto, setImmediate: undefined } as unknown as Host,
    ],
    [
      "setTimeout",
      {
        ...here,
        Date,
        performance,
        crypto,
        setTimeout,
        setImmediate: undefined,
        MessageChannel: undefined,
      } as unknown as Host,
    ],
  ];

  test.each(hosts)(
    "by %s comes after all microtasks, also those that microtasks begin, and in order",
    async (_name, host) => {
      const runtime = createSystemRuntime(host);
      const order: string[] = [];
      const done = new Promise<void>((resolve) => {
        runtime.drained(() => order.push("first"));
        runtime.drained(() => order.push("second"));
        runtime.drained(() => {
          order.push("third");
          Promise.resolve().then(() => order.push("microtask of third"));
          runtime.drained(() => {
            order.push("nested");
            resolve();
          });
        });
      });
      (async () => {
        for (let turn = 0; turn < 50; turn++) await null;
        order.push("microtasks");
      })();
      await done;
      expect(order).toEqual(["microtasks", "first", "second", "third", "microtask of third", "nested"]);
    },
  );

  test.each(hosts)("by %s calls back once", async (_name, host) => {
    const runtime = createSystemRuntime(host);
    const called = vi.fn();
    runtime.drained(called);
    expect(called).not.toHaveBeenCalled();
    await waited(20);
    expect(called).toHaveBeenCalledTimes(1);
  });
});

test("drained by a MessageChannel leaves no port open that would keep a process alive", async () => {
  const closed = vi.fn();
  class Channel extends MessageChannel {
    constructor() {
      super();
      this.port1.addEventListener("close", closed);
    }
  }
  const host = { Date, performance, crypto, MessageChannel: Channel } as unknown as Host;
  await new Promise<void>((resolve) => createSystemRuntime(host).drained(resolve));
  await vi.waitFor(() => expect(closed).toHaveBeenCalledTimes(1), 60_000);
});

describe("randomness", () => {
  test("float lies in [0, 1)", () => {
    for (let n = 0; n < 1000; n++) {
      const value = systemRuntime.float();
      expect(value >= 0 && value < 1).toBe(true);
    }
  });

  test("uuids are version 4 and differ", () => {
    const ids = Array.from({ length: 1000 }, () => systemRuntime.uuid());
    expect(new Set(ids).size).toBe(1000);
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test("cuids are 24 lowercase characters, differ, and sort in the order they were made", () => {
    const ids = Array.from({ length: 20_000 }, () => systemRuntime.cuid());
    for (const id of ids) expect(id).toMatch(/^c[0-9a-z]{23}$/);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.toSorted()).toEqual(ids);
  });

  test("cuids stay in order when the clock goes back or stands still", () => {
    const clock = { ms: Date.UTC(2026, 0, 1) };
    const runtime = createSystemRuntime({
      ...here,
      crypto,
      Date: { now: () => clock.ms },
    } as unknown as Host);
    let last = runtime.cuid();
    clock.ms -= 60_000;
    for (let n = 0; n < 2 * 36 ** 3; n++) {
      const next = runtime.cuid();
      if (next <= last || next.length !== 24) throw new Error(`${next} after ${last}`);
      last = next;
    }
    clock.ms += 120_000;
    expect(runtime.cuid() > last).toBe(true);
  });

  test("two runtimes at the same moment make different cuids", () => {
    const host = { ...here, crypto, Date: { now: () => 1 } } as unknown as Host;
    const [first, second] = [createSystemRuntime(host), createSystemRuntime(host)];
    for (let n = 0; n < 1000; n++) expect(first.cuid()).not.toBe(second.cuid());
  });

  test("no digit is favoured", () => {
    const fills = [255, 251, 0];
    const getRandomValues = (bytes: Uint8Array) => bytes.fill(fills.shift() ?? 1);
    const runtime = createSystemRuntime({ Date, crypto: { getRandomValues } } as unknown as Host);
    expect(runtime.cuid().slice(13)).toBe("zzzzzzzzzzz");
  });

  test("every digit of the random part appears", () => {
    const counts = new Map<string, number>();
    for (let n = 0; n < 10_000; n++) {
      for (const digit of systemRuntime.cuid().slice(13)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
    }
    expect(counts.size).toBe(36);
    for (const count of counts.values()) expect(count).toBeGreaterThan(2000);
  });
});

describe("whereabouts", () => {
  const on = (process: Host["process"]) =>
    createSystemRuntime({ ...(globalThis as unknown as Host), process } as Host).whereabouts?.();

  test("are the host's name and the number of the process", () => {
    expect(systemRuntime.whereabouts?.()).toEqual({ host: hostname(), pid: process.pid });
  });

  test("are unknown where there is no process, or where nobody may know", () => {
    expect(on(undefined)).toEqual({ host: null, pid: null });
    expect(on({ pid: 7 })).toEqual({ host: null, pid: 7 });
    expect(on({ pid: 7, getBuiltinModule: () => ({ hostname: () => "" }) })).toEqual({ host: null, pid: 7 });
    const refused = (): never => {
      throw new Error("not allowed");
    };
    expect(on({ pid: 7, getBuiltinModule: () => ({ hostname: refused }) })).toEqual({ host: null, pid: 7 });
  });
});

describe("a scope", () => {
  test("follows a call through its awaits, and calls side by side do not mix", async () => {
    const scope = systemRuntime.createScope<string>();
    const branch = (name: string) =>
      scope.run(name, async () => {
        await waited(1);
        const first = scope.current();
        await new Promise<void>((resolve) => systemRuntime.drained(resolve));
        return [first, scope.current()];
      });
    expect(await Promise.all([branch("a"), branch("b")])).toEqual([
      ["a", "a"],
      ["b", "b"],
    ]);
    expect(scope.current()).toBeUndefined();
  });

  test("is not seen by another scope", () => {
    const [first, second] = [systemRuntime.createScope<number>(), systemRuntime.createScope<number>()];
    first.run(1, () => expect([first.current(), second.current()]).toEqual([1, undefined]));
  });

  test("nests, and ends with its body, also when that throws", () => {
    const bare = createSystemRuntime({
      ...here,
      process: undefined,
      AsyncLocalStorage: undefined,
    } as unknown as Host);
    for (const runtime of [systemRuntime, bare]) {
      const scope = runtime.createScope<number>();
      const seen = scope.run(1, () => [
        scope.current(),
        scope.run(2, () => scope.current()),
        scope.current(),
      ]);
      expect(seen).toEqual([1, 2, 1]);
      expect(() =>
        scope.run(3, () => {
          throw new Error("out");
        }),
      ).toThrow("out");
      expect(scope.current()).toBeUndefined();
    }
  });

  test("without async storage covers what is called before the first await", async () => {
    const bare = createSystemRuntime({
      ...here,
      process: {},
      AsyncLocalStorage: undefined,
    } as unknown as Host);
    const scope = bare.createScope<string>();
    const seen = scope.run("outer", async () => {
      const before = scope.current();
      await null;
      return [before, scope.current()];
    });
    expect(await seen).toEqual(["outer", undefined]);
  });

  test("uses the global AsyncLocalStorage of hosts that have one", async () => {
    const { AsyncLocalStorage } = process.getBuiltinModule("node:async_hooks");
    const host = { ...here, process: undefined, AsyncLocalStorage } as unknown as Host;
    const scope = createSystemRuntime(host).createScope<string>();
    expect(
      await scope.run("kept", async () => {
        await null;
        return scope.current();
      }),
    ).toBe("kept");
  });
});
