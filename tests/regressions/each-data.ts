/** For scenarios below the harness: data of a test's own on every store, and as many handles on it as it wants. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqlite } from "everstep/sqlite";
import type { Store } from "everstep/store";
import { createMemoryDatabase, memory } from "everstep/testing";
import { afterEach, describe } from "vitest";
import { Namespaces, serverStores } from "../support/server-stores.ts";

export interface Data {
  readonly store: "memory" | "sqlite" | "postgres" | "mysql" | "redis";
  /** Every call is a journey: scale down where the number is not the point. */
  readonly isRemote: boolean;
  /** One more handle, as another process would have; closed after the test. */
  open(): Store;
}

/** Gives each test its own data; call it once per test. */
export type TakeData = () => Data;

type MakeData = (cleanUp: (act: () => Promise<void> | void) => void) => Omit<Data, "isRemote">;

export interface DataChoice {
  /** Leave out the store whose data ends with the process. */
  readonly durable?: boolean;
}

export function onEachData(
  title: string,
  { durable = false }: DataChoice,
  scenarios: (take: TakeData, store: Data["store"]) => void,
): void {
  if (!durable) describe(`${title} (memory)`, () => scenarios(taking(inMemory), "memory"));
  describe(`${title} (sqlite)`, () => scenarios(taking(onDisk), "sqlite"));
  for (const server of serverStores) {
    describe.skipIf(server.url === undefined)(`${title} (${server.name})`, () => {
      const namespaces = new Namespaces(server);
      scenarios(
        taking((cleanUp) => {
          const namespace = namespaces.take();
          cleanUp(() => namespaces.giveBack(namespace));
          return { store: server.name, open: () => server.open(namespace) };
        }),
        server.name,
      );
    });
  }
}

const inMemory: MakeData = () => {
  const database = createMemoryDatabase();
  return { store: "memory", open: () => memory({ database }) };
};

const onDisk: MakeData = (cleanUp) => {
  const folder = mkdtempSync(join(tmpdir(), "everstep-regression-"));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "app.db");
  return { store: "sqlite", open: () => sqlite({ path, synchronous: "normal" }) };
};

function taking(make: MakeData): TakeData {
  const cleanUps: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const act of cleanUps.splice(0).reverse()) await act();
  });
  return () => {
    const data = make((act) => void cleanUps.push(act));
    const open = (): Store => {
      const store = data.open();
      cleanUps.push(() => store.close());
      return store;
    };
    return { ...data, open, isRemote: data.store !== "memory" && data.store !== "sqlite" };
  };
}
