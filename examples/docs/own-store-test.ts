/** The whole test file of a store; here of the memory store, which is the reference. */
// #region test
import { describe, it } from "node:test";
import { type AuthorRowsHandle, type MemoryStore, memory } from "everstep/memory";
import { describeStore } from "everstep/testing";

describeStore(
  {
    name: "memory",
    open: () => memory(),
    reopen: (store) => memory({ database: (store as MemoryStore).database }),
    lacks: {
      durable: "the data lives in the memory of one process",
      shared: "the data lives in the memory of one process",
      transactions: "its data lives in no database that a caller could begin a transaction in",
      nudges: "there is no other process to tell",
      ownership: "when the owner dies its data dies with it",
    },
    rows: {
      synchronous: true,
      insert: (db: AuthorRowsHandle, key, value) => db.insert(key, value),
      read: (store, key) => (store as MemoryStore).database.authorRows.get(key) as string | undefined,
    },
  },
  { describe, it },
);
// #endregion test
