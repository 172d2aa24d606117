/** Every store, for suites that keep one server per store over many tests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqlite } from "everstep/sqlite";
import type { Store } from "everstep/store";
import { createMemoryDatabase, memory } from "everstep/testing";
import { Namespaces, serverStores } from "../../support/server-stores.ts";

export interface StoreUnderTest {
  readonly name: string;
  /** There is no server to test it with. */
  readonly isMissing: boolean;
  /** Data of its own. */
  begin(): Data;
}

export interface Data {
  /** A handle on the data, as every process has one. */
  open(): Store;
  end(): Promise<void>;
}

export const storesUnderTest: readonly StoreUnderTest[] = [
  {
    name: "memory",
    isMissing: false,
    begin() {
      const database = createMemoryDatabase();
      return { open: () => memory({ database }), end: async () => {} };
    },
  },
  {
    name: "sqlite",
    isMissing: false,
    begin() {
      const folder = mkdtempSync(join(tmpdir(), "everstep-http-"));
      return {
        // Durability is tested elsewhere, with real processes.
        open: () => sqlite({ path: join(folder, "app.db"), synchronous: "normal" }),
        end: async () => rmSync(folder, { recursive: true, force: true }),
      };
    },
  },
  ...serverStores.map((server) => {
    const namespaces = new Namespaces(server);
    return {
      name: server.name,
      isMissing: server.url === undefined,
      begin() {
        const namespace = namespaces.take();
        return { open: () => server.open(namespace), end: () => namespaces.giveBack(namespace) };
      },
    };
  }),
];
