import { describe, expect, it, test } from "vitest";
import type { AuthorRows } from "../../testing/store-contract/index.ts";
import { describeStore } from "../../testing/store-contract/index.ts";
import type { AuthorRowsHandle } from "./author-rows.ts";
import { createMemoryDatabase } from "./database.ts";
import type { MemoryStore } from "./memory-store.ts";
import { memory } from "./memory-store.ts";

const lacks = {
  durable: "the data lives in the memory of one process",
  shared: "the data lives in the memory of one process",
  transactions: "a caller cannot begin a transaction in it",
  nudges: "there is no other process to tell",
};

const rows: AuthorRows = {
  synchronous: true,
  insert: (db: AuthorRowsHandle, key, value) => db.insert(key, value),
  read: (store, key) => (store as MemoryStore).database.authorRows.get(key) as string | undefined,
};

describeStore(
  {
    name: "memory",
    open: () => memory(),
    reopen: (store) => memory({ database: (store as MemoryStore).database }),
    lacks: { ...lacks, ownership: "when the owner dies its data dies with it" },
    rows,
  },
  { describe, it },
);

describeStore(
  {
    name: "memory (with owners that can be killed)",
    open: () => memory({ database: createMemoryDatabase({ ownership: true }) }),
    reopen: (store) => memory({ database: (store as MemoryStore).database }),
    lacks,
    rows,
  },
  { describe, it },
);

test("an owner that was killed is found dead by every store on the database, until it is buried", async () => {
  const database = createMemoryDatabase({ ownership: true });
  const store = memory({ database });
  const other = memory({ database });
  await store.ownership?.hold("r1");
  database.owners?.kill("r1");
  database.owners?.kill("never held anything");
  expect(await other.ownership?.findDead()).toEqual(["r1"]);
  await other.ownership?.bury("r1");
  expect(await store.ownership?.findDead()).toEqual([]);
});
