import { type RedisOptions, readOptions } from "./options.ts";
import { RedisStore } from "./redis-store.ts";
import type { RedisCluster } from "./server/nodes.ts";

/** Keeps workflows in Redis or Valkey, 6.2 or later. Nothing is opened before the first call. */
export function redis(where: string | RedisOptions | RedisCluster): RedisStore {
  return new RedisStore(readOptions(where));
}

export type { RedisClient, RedisClientOptions, RedisDriver } from "./driver.ts";
export type { RedisOptions } from "./options.ts";
export type { RedisStore } from "./redis-store.ts";
export type { RedisCluster } from "./server/nodes.ts";
export type { CommandArgument, RedisCommands } from "./write/mutations.ts";
export { KeyTaken } from "./write/mutations.ts";
