import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { instance, write } from "../../testing/store-contract/acts.ts";
import { at, create, ref } from "../../testing/store-contract/given.ts";
import type { RedisClient } from "./driver.ts";
import type { RedisStore } from "./redis-store.ts";
import {
  keysOf,
  namespaceOf,
  openClient,
  openFresh,
  redisUrl,
  removeTestKeys,
  reopen,
} from "./test-support.ts";

describe.skipIf(redisUrl === undefined)("migrating", () => {
  let client: RedisClient;
  let store: RedisStore;
  let meta: string;
  beforeAll(async () => {
    client = await openClient();
  });
  afterAll(async () => {
    await removeTestKeys(client);
    client.disconnect();
  });
  beforeEach(() => {
    store = openFresh();
    meta = `{${namespaceOf(store)}}:meta`;
  });
  afterEach(() => store.close());

  test("is done by the first call, if nobody did it before", async () => {
    expect(await store.getInstance(ref("nobody"))).toBeUndefined();
    expect(await store.migrate()).toEqual({ from: 1, to: 1, statements: [] });
  });

  test("by many processes at once gives all of them the same namespace", async () => {
    const stores = [store, ...Array.from({ length: 15 }, () => reopen(store))];
    const reports = await Promise.all(stores.map((each) => each.migrate()));
    expect(reports.filter(({ from }) => from === 0)).toHaveLength(1);
    await Promise.all(stores.map((each, n) => write(each, create(`i${n}`))));
    expect((await store.countByStatus()).active).toBe(16);
    await Promise.all(stores.map((each) => each.close()));
  });

  test("as a plan leaves nothing behind", async () => {
    expect(await store.migrate({ plan: true })).toEqual({ from: 0, to: 1, statements: [] });
    expect(await keysOf(client, namespaceOf(store))).toEqual([]);
  });

  test("refuses a newer layout that older code must not touch, and touches nothing (R-089)", async () => {
    await client.call("HSET", [meta, "version", "9", "oldest", "8", "epoch", "theirs"]);
    const before = await client.call("HGETALL", [meta]);
    const tooNew = { code: "SCHEMA_TOO_NEW", message: expect.stringContaining("update everstep") };
    await expect(store.migrate()).rejects.toMatchObject(tooNew);
    await expect(store.migrate({ plan: true })).rejects.toMatchObject(tooNew);
    await expect(store.write([create("a")], at(0))).rejects.toMatchObject(tooNew);
    const after = Object.entries(pairs(await client.call("HGETALL", [meta])));
    expect(after).toEqual(expect.arrayContaining(Object.entries(pairs(before))));
    expect(await keysOf(client, namespaceOf(store))).toEqual([meta]);
  });

  test("accepts a newer layout that older code may still use (R-089)", async () => {
    await store.migrate();
    await client.call("HSET", [meta, "version", "9"]);
    const other = reopen(store);
    expect(await other.migrate()).toEqual({ from: 9, to: 9, statements: [] });
    await write(other, create("a"));
    expect((await instance(store, "a")).status).toBe("active");
    await other.close();
  });

  test.each<[string, (key: string) => [string, string[]]]>([
    ["a text", (key) => ["SET", [key, "theirs"]]],
    ["a list", (key) => ["RPUSH", [key, "theirs"]]],
    ["a hash of something else", (key) => ["HSET", [key, "version", "theirs"]]],
  ])("refuses a namespace where %s of somebody else is, and leaves it alone", async (_what, plant) => {
    const [command, args] = plant(meta);
    await client.call(command, args);
    await expect(store.migrate()).rejects.toMatchObject({ failure: "fatal", code: "STORE_NOT_OURS" });
    await expect(store.getInstance(ref("a"))).rejects.toMatchObject({ code: "STORE_NOT_OURS" });
    expect(await keysOf(client, namespaceOf(store))).toEqual([meta]);
  });
});

function pairs(flat: unknown): Record<string, string> {
  const list = flat as string[];
  return Object.fromEntries(
    list.flatMap((field, n) => (n % 2 === 0 ? [[field, list[n + 1] as string]] : [])),
  );
}
