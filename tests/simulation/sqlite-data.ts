import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqlite } from "everstep/sqlite";
import type { Data } from "./batch.ts";

/** A file of its own for a seed, with a connection for every simulated process. */
export function openSqliteData(): Data {
  const folder = mkdtempSync(join(tmpdir(), "everstep-simulation-"));
  const opened: { close(): Promise<void> }[] = [];
  return {
    openStore() {
      const store = sqlite({ path: join(folder, "data.db"), synchronous: "normal" });
      opened.push(store);
      return store;
    },
    async close() {
      for (const store of opened) await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
