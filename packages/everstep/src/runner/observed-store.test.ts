import { expect, test } from "vitest";
import { StoreError } from "../model/error.ts";
import type { Observer } from "../model/observer.ts";
import type { Store } from "../store/store.ts";
import { memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { observedStore } from "./observed-store.ts";
import { Observers } from "./observers.ts";

function stage() {
  const runtime = createFakeRuntime();
  const store: Store = memory();
  const observers = new Observers();
  const calls: string[] = [];
  const observer: Observer = {
    onStoreCallStart: ({ verb, size }) => calls.push(`${verb} of ${size}`),
    onStoreCallEnd: ({ verb }, { outcome, durationMs }) =>
      calls.push(`${verb} ${outcome} after ${durationMs} ms`),
  };
  return {
    runtime,
    store,
    observers,
    observer,
    calls,
    observed: observedStore(store, observers.all, runtime),
  };
}

test("a call is told when it begins and when it ends, with how it ended and how long it took", async () => {
  const { runtime, store, observers, observer, calls, observed } = stage();
  observers.add(observer);
  await observed.getStatuses([
    { workflowName: "w", instanceId: "a" },
    { workflowName: "w", instanceId: "b" },
  ]);
  store.nextDueAt = () => new Promise((resolve) => void runtime.timer(() => resolve(null), 30));
  const answer = observed.nextDueAt(["w"]);
  await runtime.advance(30);
  await answer;
  store.claim = async () => {
    throw new StoreError("conflict", "STORE_FAILED", "again");
  };
  await expect(observed.claim({} as never)).rejects.toThrow("again");
  store.close = () => {
    throw new Error("at once");
  };
  expect(() => observed.close()).toThrow("at once");
  expect(calls).toEqual([
    "getStatuses of 2",
    "getStatuses ok after 0 ms",
    "nextDueAt of 1",
    "nextDueAt ok after 30 ms",
    "claim of 1",
    "claim conflict after 0 ms",
    "close of 1",
    "close error after 0 ms",
  ]);
});

test("whoever calls gets the store's own promise, with and without somebody who looks on", () => {
  const { store, observers, observer, observed } = stage();
  const answers: Promise<void>[] = [];
  store.close = () => {
    answers.push(Promise.resolve());
    return answers.at(-1) as Promise<void>;
  };
  const given = [observed.close()];
  observers.add(observer);
  given.push(observed.close());
  expect(given.map((answer, at) => answer === answers[at])).toEqual([true, true]);
});

test("a store whose answers are no promises is asked once, and heard by whoever asked", async () => {
  const { store, observers, observer, calls, observed } = stage();
  let asked = 0;
  // As query builders have it: run when somebody waits, and each time that somebody does.
  const query: PromiseLike<number> = {
    // biome-ignore lint/suspicious/noThenProperty: it is what is tried
    then: (then, or) => Promise.resolve(++asked).then(then, or),
  };
  Object.assign(store, { prune: () => query, nextDueAt: () => 7, close: () => undefined });
  observers.add(observer);
  expect(await observed.prune({ before: 0, limit: 1 })).toBe(1);
  expect(asked).toBe(1);
  expect(await observed.nextDueAt(["w"])).toBe(7);
  expect(await observed.close()).toBe(undefined);
  expect(calls.filter((call) => call.includes(" ok "))).toHaveLength(3);
});

test("what a store lacks is lacking, and what it says of itself is said", () => {
  const { store, observed } = stage();
  expect(observed.subscribe).toBe(store.subscribe);
  expect([observed.name, observed.capabilities, observed.writesAtOnce]).toEqual([
    store.name,
    store.capabilities,
    store.writesAtOnce,
  ]);
  expect(Object.keys(observed).sort()).toEqual(
    expect.arrayContaining(["write", "claim", "renew", "capabilities"]),
  );
});
