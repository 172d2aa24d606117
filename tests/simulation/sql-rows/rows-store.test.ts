import { describe, it } from "vitest";
import type { Store } from "../../../packages/everstep/src/store/store.ts";
import type { AuthorRowsHandle } from "../../../packages/everstep/src/stores/memory/author-rows.ts";
import { nodeDriver } from "../../../packages/everstep/src/stores/sqlite/driver.ts";
import { createSeededRandom } from "../../../packages/everstep/src/testing/seeded-random.ts";
import { describeStore } from "../../../packages/everstep/src/testing/store-contract/index.ts";
import { openRows, type RowsData } from "./rows-store.ts";

// A world on tables shows something only if they keep every promise where nothing goes wrong.
for (const quick of [false, true]) {
  const datas = new WeakMap<Store, RowsData>();
  const keep = (data: RowsData): Store => {
    const store = data.openStore();
    datas.set(store, data);
    return store;
  };
  describeStore(
    {
      name: quick ? "tables in memory, quickly" : "tables in memory",
      async open() {
        const sqlite = await nodeDriver.open(":memory:", { busyTimeoutMs: 0, create: true });
        const { float } = createSeededRandom(1);
        return keep(openRows(sqlite, { quick, ownership: false, float }));
      },
      reopen: (store) => keep(datas.get(store) as RowsData),
      lacks: {
        durable: "the data lives in the memory of one process",
        shared: "the data lives in the memory of one process",
        transactions: "nobody else reaches the database",
        nudges: "there is no other process to tell",
        ownership: "when the owner dies its data dies with it",
      },
      rows: {
        synchronous: true,
        insert: (db: AuthorRowsHandle, key, value) => db.insert(key, value),
        read: (store, key) => datas.get(store)?.rows.get(key) as string | undefined,
      },
    },
    { describe, it },
  );
}
