import type { Store, StoreCapabilities } from "../../store/index.ts";
import type { Case, CaseContext, StoreUnderTest } from "./case.ts";
import { storePromises } from "./promises.ts";

/** What the suite needs of a test runner; vitest, jest, node:test and bun:test all have it. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  readonly it: {
    (name: string, body: () => Promise<void>): unknown;
    skip?(name: string, body: () => Promise<void>): unknown;
  };
}

/**
 * Runs every promise of the store contract against a store. Cases for what the store lacks are shown as skipped, with
 * the reason it gives.
 */
export function describeStore(store: StoreUnderTest, runner: TestRunner = globalRunner()): void {
  runner.describe(`store contract: ${store.name}`, () => {
    for (const group of storePromises) {
      runner.describe(group.title, () => {
        for (const each of group.cases) register(each, store, runner);
      });
    }
  });
}

function register(each: Case, store: StoreUnderTest, runner: TestRunner): void {
  const missing = whyMissing(each, store);
  const body = () => runCase(each, store);
  if (missing === undefined) runner.it(each.name, body);
  else runner.it.skip?.(`${each.name} (lacking: ${missing})`, body);
}

function whyMissing({ needs }: Case, store: StoreUnderTest): string | undefined {
  if (needs === undefined) return undefined;
  if (needs === "reopen") return store.reopen === undefined ? "a second handle on the same data" : undefined;
  if (needs === "synchronous mutations") {
    return store.rows?.synchronous === true ? undefined : "mutations of this store may be asynchronous";
  }
  return store.lacks?.[needs];
}

async function runCase(each: Case, store: StoreUnderTest): Promise<void> {
  const opened: Store[] = [];
  const keep = (handle: Store): Store => {
    opened.push(handle);
    checkCapabilities(handle, store);
    return handle;
  };
  const context: CaseContext = {
    async open() {
      const handle = keep(await store.open());
      await handle.migrate();
      return handle;
    },
    async openBare() {
      return keep(await store.open());
    },
    async reopen(of) {
      if (store.reopen === undefined) throw new Error(`${store.name} was described without \`reopen\``);
      const handle = keep(await store.reopen(of));
      await handle.migrate();
      return handle;
    },
    get rows() {
      if (store.rows === undefined)
        throw new Error(`${store.name} has mutations but was described without \`rows\``);
      return store.rows;
    },
    get transactions() {
      if (store.transactions === undefined)
        throw new Error(`${store.name} has transactions but was described without them`);
      return store.transactions;
    },
  };
  try {
    await each.run(context);
  } finally {
    for (const handle of opened.reverse()) await handle.close();
  }
}

/** A store that claims more or less than its description would pass cases it should fail, or skip what it can do. */
function checkCapabilities({ capabilities, beat }: Store, store: StoreUnderTest): void {
  const names = Object.keys(capabilities) as (keyof StoreCapabilities)[];
  for (const name of [...names, "beats"] as const) {
    const lacking = store.lacks?.[name] !== undefined;
    const has = name === "beats" ? beat !== undefined : capabilities[name].has;
    if (has === lacking) {
      throw new Error(
        `${store.name} is described as ${lacking ? "lacking" : "having"} "${name}", but its capabilities disagree.`,
      );
    }
  }
}

function globalRunner(): TestRunner {
  const { describe, it } = globalThis as unknown as Partial<TestRunner>;
  if (describe === undefined || it === undefined) {
    throw new Error("describeStore found no global describe and it; hand them in as its second argument.");
  }
  return { describe, it };
}
