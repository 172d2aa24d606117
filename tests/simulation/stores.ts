/** The stores that worlds run on, each on data of its own for every world. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Store } from "everstep/store";
import type { OpenWorldData } from "./world-data.ts";

export type StoreName = "memory" | "sqlite" | "sql" | "sql-quick";

export const storeNames: readonly StoreName[] = ["memory", "sqlite", "sql", "sql-quick"];

/** Where one world keeps its data. */
export interface Data {
  readonly openData: OpenWorldData;
  close(): void | Promise<void>;
}

const repository = fileURLToPath(new URL("../../", import.meta.url));

/** `home` stands for the repository. Null for the reference store, which a world opens by itself. */
export function openerOf(store: StoreName, home: string = repository): (() => Promise<Data>) | null {
  switch (store) {
    case "memory":
      return null;
    case "sqlite":
      return () => openFile(home);
    case "sql":
      return () => openTables(home, false);
    case "sql-quick":
      return () => openTables(home, true);
  }
}

type Driver = typeof import("../../packages/everstep/src/stores/sqlite/driver.ts");

/** A file, with a connection for every simulated process. */
async function openFile(home: string): Promise<Data> {
  const { sqlite } = await load<typeof import("everstep/sqlite")>(
    home,
    "packages/everstep/src/stores/sqlite/index.ts",
  );
  const { nodeDriver } = await load<Driver>(home, "packages/everstep/src/stores/sqlite/driver.ts");
  const { markTables } = await load<typeof import("./sql-rows/mark-tables.ts")>(
    home,
    "tests/simulation/sql-rows/mark-tables.ts",
  );
  const folder = mkdtempSync(join(tmpdir(), "everstep-simulation-"));
  const path = join(folder, "data.db");
  const own = await nodeDriver.open(path, { busyTimeoutMs: 1000, create: true });
  const opened: Store[] = [];
  const openStore = (): Store => {
    const store = sqlite({ path, synchronous: "normal" });
    opened.push(store);
    return store;
  };
  return {
    openData: () => ({ openStore, rows: null, owners: null, mark: () => markTables(own) }),
    async close() {
      for (const store of opened) await store.close();
      own.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What server stores share, on tables in memory. */
async function openTables(home: string, quick: boolean): Promise<Data> {
  const { nodeDriver } = await load<Driver>(home, "packages/everstep/src/stores/sqlite/driver.ts");
  const { openRows } = await load<typeof import("./sql-rows/rows-store.ts")>(
    home,
    "tests/simulation/sql-rows/rows-store.ts",
  );
  const sqlite = await nodeDriver.open(":memory:", { busyTimeoutMs: 0, create: true });
  return {
    openData: (options) => openRows(sqlite, { quick, ...options }),
    close: () => sqlite.close(),
  };
}

async function load<Module>(home: string, file: string): Promise<Module> {
  return (await import(pathToFileURL(join(home, file)).href)) as Module;
}
