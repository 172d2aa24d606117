import { expect, test } from "vitest";
import type { Store } from "../../store/index.ts";
import { memory } from "../../stores/memory/index.ts";
import type { StoreUnderTest } from "./case.ts";
import type { TestRunner } from "./describe-store.ts";
import { describeStore } from "./describe-store.ts";
import { storePromises } from "./promises.ts";

const memoryLacks = { durable: "d", shared: "s", transactions: "t", nudges: "n", ownership: "o" };

/** A test runner that only takes note of what it was given. */
function collect(store: StoreUnderTest) {
  const cases = new Map<string, () => Promise<void>>();
  const skipped: string[] = [];
  const it: TestRunner["it"] = Object.assign(
    (name: string, body: () => Promise<void>) => cases.set(name, body),
    {
      skip: (name: string) => skipped.push(name),
    },
  );
  describeStore(store, { describe: (_name, body) => body(), it });
  return { cases, skipped };
}

function named(cases: Map<string, () => Promise<void>>, text: string): () => Promise<void> {
  const found = [...cases].find(([name]) => name.includes(text));
  if (found === undefined) throw new Error(`there is no case about "${text}"`);
  return found[1];
}

test("every promise has a name of its own", () => {
  const names = storePromises.flatMap((group) => group.cases.map((each) => each.name));
  expect(new Set(names).size).toBe(names.length);
});

test("what a store lacks is skipped, with the reason", () => {
  const { skipped } = collect({
    name: "m",
    open: () => memory(),
    lacks: { ...memoryLacks, mutations: "no rows" },
  });
  expect(skipped.filter((name) => name.endsWith("(lacking: no rows)")).length).toBeGreaterThan(5);
  expect(skipped.filter((name) => name.endsWith("(lacking: a second handle on the same data)"))).not.toEqual(
    [],
  );
});

test("a store that breaks a promise fails the case that names it", async () => {
  const forgetful = (): Store => {
    const store = memory();
    return Object.assign(store, { renew: async () => [{ kind: "lost" }] });
  };
  const { cases } = collect({ name: "forgetful", open: forgetful, lacks: memoryLacks });
  await expect(named(cases, "renewing keeps others out")()).rejects.toThrow(/the answer: .*renewed.*lost/);
  await expect(named(cases, "an empty batch")()).resolves.toBeUndefined();
});

test("a store whose capabilities are not what its description says fails", async () => {
  const { cases } = collect({ name: "boaster", open: () => memory(), lacks: {} });
  await expect(named(cases, "an empty batch")()).rejects.toThrow('described as having "durable"');
});

test("without a test runner the suite says what to do", () => {
  expect(() => describeStore({ name: "m", open: () => memory() })).toThrow(
    "hand them in as its second argument",
  );
});

test("every store that a case opened is closed", async () => {
  let open = 0;
  const counted = (): Store => {
    open += 1;
    const store = memory();
    const close = store.close.bind(store);
    return Object.assign(store, {
      close: async () => {
        open -= 1;
        await close();
      },
    });
  };
  const { cases } = collect({ name: "counted", open: counted, lacks: memoryLacks });
  await named(cases, "the same story")();
  expect(open).toBe(0);
});
