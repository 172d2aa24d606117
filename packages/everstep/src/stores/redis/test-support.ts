/** What tests of this store share: fresh namespaces on the server they were given, and a look behind the store. */
import type { Store } from "../../store/store.ts";
import { loadDriver, type RedisClient } from "./driver.ts";
import { redis } from "./index.ts";
import type { RedisOptions } from "./options.ts";
import type { RedisStore } from "./redis-store.ts";

/** Undefined when there is no server to test with. */
export const redisUrl: string | undefined = process.env.EVERSTEP_REDIS_URL;
if (redisUrl === undefined) console.warn("EVERSTEP_REDIS_URL is not set: the Redis store is not tested.");

const runName = `t${process.pid}_${(process.hrtime.bigint() % 1_000_000_000n).toString(36)}`;
const namespaces = new WeakMap<Store, string>();
let opened = 0;

/** A store on an empty namespace. */
export function openFresh(options: Partial<RedisOptions> = {}): RedisStore {
  opened += 1;
  return openNamespace(`${runName}_${opened}`, options);
}

/** Another store on the namespace of the first. */
export function reopen(store: Store, options: Partial<RedisOptions> = {}): RedisStore {
  return openNamespace(namespaceOf(store), options);
}

export function openNamespace(namespace: string, options: Partial<RedisOptions> = {}): RedisStore {
  const store = redis({ ...(options.cluster ? {} : { url: redisUrl as string }), namespace, ...options });
  namespaces.set(store, namespace);
  return store;
}

export function namespaceOf(store: Store): string {
  return namespaces.get(store) as string;
}

/** A client beside the stores; one for all tests of a file. */
export async function openClient(url: string = redisUrl as string): Promise<RedisClient> {
  const { create } = await loadDriver();
  const client = create(url, { lazyConnect: true, protocol: 2 });
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** Every key of a namespace, those of authors included. */
export async function keysOf(client: RedisClient, namespace: string): Promise<string[]> {
  const keys: string[] = [];
  let cursor = "0";
  do {
    const match = `*{${namespace.replace(/[\\*?[\]]/g, "\\$&")}}*`;
    const [next, found] = (await client.call("SCAN", [cursor, "MATCH", match, "COUNT", "5000"])) as [
      string,
      string[],
    ];
    keys.push(...found);
    cursor = next;
  } while (cursor !== "0");
  return keys.sort();
}

/** Deletes what all stores of this test file have left behind. */
export async function removeTestKeys(client: RedisClient): Promise<void> {
  let cursor = "0";
  do {
    const [next, found] = (await client.call("SCAN", [
      cursor,
      "MATCH",
      `*${runName}_*`,
      "COUNT",
      "5000",
    ])) as [string, string[]];
    // One by one: on a cluster they lie in many slots.
    await Promise.all(found.map((key) => client.call("UNLINK", [key])));
    cursor = next;
  } while (cursor !== "0");
}
