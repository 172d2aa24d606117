/** An app that stops closes its store under whatever it still asks: that is its own doing, and nobody's problem. */
import { expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { StoreError } from "../model/error.ts";
import type { Nudge, Store } from "../store/store.ts";
import { memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { createWorkflows } from "./create-workflows.ts";

type Verb = keyof Store;

/** A store that leaves one kind of question without an answer, until it is closed. */
function speechless(verb: Verb) {
  let tell = (_nudge: Nudge): void => {};
  const waiting: ((error: Error) => void)[] = [];
  let calls = 0;
  let isClosed = false;
  const closed = (): Error => new StoreError("fatal", "STORE_CLOSED", "this store was closed");
  const inner: Store = {
    ...bound(memory()),
    subscribe: async ({ onNudge }) => {
      tell = onNudge;
      return () => {};
    },
    warnings: async () => [],
    ownership: {
      hold: async () => ({ release: async () => {} }),
      findDead: async () => [],
      bury: async () => {},
    },
  };
  const ask = (): Promise<never> => {
    calls++;
    return isClosed ? Promise.reject(closed()) : new Promise((_, reject) => waiting.push(reject));
  };
  const mute = verb === "ownership" ? { ownership: { ...inner.ownership, findDead: ask } } : { [verb]: ask };
  const close = async (): Promise<void> => {
    isClosed = true;
    for (const reject of waiting) reject(closed());
    await inner.close();
  };
  return {
    store: { ...inner, ...mute, close } as Store,
    calls: () => calls,
    nudge: () => tell({ due: true, changed: true, ended: true }),
  };
}

function bound(store: Store): Store {
  const members = new Set<string>();
  for (
    let each: object | null = store;
    each && each !== Object.prototype;
    each = Object.getPrototypeOf(each)
  ) {
    for (const name of Object.getOwnPropertyNames(each)) members.add(name);
  }
  const entries = [...members].map((name) => {
    const value = (store as unknown as Record<string, unknown>)[name];
    return [name, typeof value === "function" ? value.bind(store) : value];
  });
  return Object.fromEntries(entries) as Store;
}

const verbs: readonly Verb[] = [
  "warnings",
  "claim",
  "nextDueAt",
  "release",
  "renew",
  "getStatuses",
  "subscribe",
  "beat",
  "changeMark",
  "ownership",
];

test.each(verbs)("a stop that closes the store under %s is no problem to tell", async (verb) => {
  const runtime = createFakeRuntime();
  const problems: unknown[] = [];
  const { store, calls, nudge } = speechless(verb);
  const never = defineWorkflow({ name: "never" }, async (_event, step) => {
    await step.do("for ever", () => new Promise(() => {}));
  });
  const app = createWorkflows({
    workflows: { NEVER: never },
    store,
    runtime,
    runner: { lease: 9000 },
    onNotice: () => {},
    onProblem: (problem) => problems.push(problem),
  });
  const started = app.start().catch(() => {});
  await runtime.settle();
  const creating = app.workflows.NEVER.create({ id: "1" }).catch(() => {});
  await runtime.advance(5000);
  nudge();
  await runtime.settle();
  const stopping = app.stop({ grace: 0 });
  await runtime.advance(60_000);
  await Promise.all([stopping, started, creating]);
  await runtime.advance(60_000);
  expect(calls()).toBeGreaterThan(0);
  expect(problems).toEqual([]);
});

test("a stop that ends the wait for a store out of reach is no problem to tell", async () => {
  const runtime = createFakeRuntime();
  const problems: unknown[] = [];
  const inner = memory();
  let isAway = false;
  const away = (): Error => new StoreError("unavailable", "STORE_UNAVAILABLE", "nobody is there");
  const store: Store = {
    ...bound(inner),
    write: (...args) => (isAway ? Promise.reject(away()) : inner.write(...args)),
  };
  // It waits, and may go on by itself: a stop makes it due for another process.
  const busy = defineWorkflow({ name: "busy" }, async (_event, step) => {
    await Promise.race([step.sleep("give up", "30 days"), new Promise(() => {})]);
  });
  const app = createWorkflows({
    workflows: { BUSY: busy },
    store,
    runtime,
    onNotice: () => {},
    onProblem: (problem) => problems.push(problem),
  });
  await app.start();
  const instance = await app.workflows.BUSY.create({ id: "1" });
  await runtime.settle();
  expect((await instance.status()).status).toBe("waiting");
  isAway = true;
  const stopping = app.stop({ grace: 0 });
  await runtime.advance(60_000);
  await stopping;
  await runtime.advance(60_000);
  const codes = new Set(problems.map((problem) => (problem as StoreError).code));
  expect([...codes].filter((code) => code !== "STORE_UNAVAILABLE")).toEqual([]);
});
