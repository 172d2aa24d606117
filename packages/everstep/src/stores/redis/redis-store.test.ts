import { afterAll, describe, it } from "vitest";
import { type AuthorRows, describeStore } from "../../testing/store-contract/index.ts";
import type { RedisClient } from "./driver.ts";
import { namespaceOf, openClient, openFresh, redisUrl, removeTestKeys, reopen } from "./test-support.ts";
import type { RedisCommands } from "./write/mutations.ts";

let opening: Promise<RedisClient> | undefined;

/** A client beside the stores. */
function client(): Promise<RedisClient> {
  opening ??= openClient();
  return opening;
}

afterAll(async () => {
  if (redisUrl === undefined) return;
  await removeTestKeys(await client());
  (await client()).disconnect();
});

const rows: AuthorRows = {
  synchronous: false,
  insert: (commands: RedisCommands, key, value) => commands.insert(commands.key(key), value),
  read: async (store, key) => {
    const row = await (await client()).call("GET", [`{${namespaceOf(store)}}/${key}`]);
    return row === null ? undefined : String(row);
  },
};

if (redisUrl === undefined) {
  it.skip("EVERSTEP_REDIS_URL is not set: nothing of the store contract was tested on Redis", () => {});
} else {
  describeStore(
    {
      name: "redis",
      open: () => openFresh(),
      reopen: (store) => reopen(store),
      lacks: { transactions: "Redis has no transactions that span client code" },
      rows,
    },
    { describe, it },
  );
}
