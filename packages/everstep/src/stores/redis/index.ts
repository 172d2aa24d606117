import type { RedisCluster } from "./cluster.ts";
import { type RedisOptions, readOptions } from "./options.ts";
import { RedisStore } from "./redis-store.ts";

/** Keeps workflows in Redis or Valkey, 6.2 or later. Nothing is opened before the first call. */
export function redis(where: string | RedisOptions | RedisCluster): RedisStore {
  return new RedisStore(readOptions(where));
}

export type { RedisCluster } from "./cluster.ts";
export type { CommandArgument, RedisCommands } from "./commands.ts";
export type { RedisClient, RedisClientOptions, RedisDriver } from "./driver.ts";
export type { RedisOptions } from "./options.ts";
export { KeyTaken } from "./recorded.ts";
export type { RedisStore } from "./redis-store.ts";
