import { EverstepError } from "../../model/error.ts";
import { checkNamespace } from "../../store/namespace.ts";
import { loadDriver, type RedisClientOptions, type RedisDriver } from "./driver.ts";

export interface RedisOptions {
  /** redis://[user:password@]host[:port][/database], or rediss:// for TLS. */
  readonly url: string;
  /**
   * Beginning of every key, by default "everstep". All keys of a namespace have it as their hash tag: a cluster serves
   * one namespace from one shard, and several namespaces spread over the shards.
   */
  readonly namespace?: string;
  /** Whose clock decides what is due: the server's ("store", the default) or that of each process ("caller"). */
  readonly clock?: "store" | "caller";
  /** How long a command may take before its connection is given up, by default 15 seconds. */
  readonly commandTimeoutMs?: number;
  /** Work with a server that may evict keys when its memory is full. Workflows can then vanish; only for experiments. */
  readonly allowEviction?: boolean;
  /**
   * Wait after every write until that many replicas have it, or fail the write (which may be repeated). It makes losing
   * acknowledged writes in a failover less likely; it does not rule that out, because a failover may still choose a
   * replica that lacks them.
   */
  readonly waitReplicas?: { readonly count: number; readonly timeoutMs: number };
  /** Further options of ioredis: tls, username, password, db, sentinels, ... */
  readonly client?: RedisClientOptions;
  /** Another client library than ioredis. */
  readonly driver?: () => Promise<RedisDriver>;
}

export interface RedisSettings {
  readonly url: string;
  readonly namespace: string;
  readonly clock: "store" | "caller";
  readonly commandTimeoutMs: number;
  readonly allowEviction: boolean;
  readonly waitReplicas: { readonly count: number; readonly timeoutMs: number } | null;
  readonly client: RedisClientOptions;
  readonly driver: () => Promise<RedisDriver>;
}

const commandTimeoutMsDefault = 15_000;

// The store depends on these being as it sets them.
const reserved = [
  "keyPrefix",
  "enableOfflineQueue",
  "autoResendUnfulfilledCommands",
  "maxRetriesPerRequest",
  "retryStrategy",
  "commandTimeout",
  "lazyConnect",
  "readOnly",
  "stringNumbers",
  "monitor",
];

export function readOptions(given: string | RedisOptions): RedisSettings {
  const options = typeof given === "string" ? { url: given } : ((given ?? {}) as RedisOptions);
  const { namespace = "everstep", clock = "store", commandTimeoutMs = commandTimeoutMsDefault } = options;
  const { allowEviction = false, waitReplicas = null, client = {} } = options;
  if (typeof options.url !== "string" || !/^rediss?:\/\//.test(options.url)) {
    // The value is not shown: it may hold a password.
    throw invalid("needs a url that begins with redis:// or rediss://");
  }
  checkNamespace(namespace, "redis");
  if (clock !== "store" && clock !== "caller") {
    throw invalid(`knows clock "store" and "caller", not ${JSON.stringify(clock)}`);
  }
  requireDuration(commandTimeoutMs, "commandTimeoutMs");
  if (typeof allowEviction !== "boolean") {
    throw invalid(`takes true or false as allowEviction, not ${JSON.stringify(allowEviction)}`);
  }
  if (waitReplicas !== null) requireWaitReplicas(waitReplicas, commandTimeoutMs);
  requireFreeOptions(client);
  return {
    url: options.url,
    namespace,
    clock,
    commandTimeoutMs,
    allowEviction,
    waitReplicas,
    client,
    driver: options.driver ?? (() => loadDriver()),
  };
}

function requireWaitReplicas(
  { count, timeoutMs }: NonNullable<RedisOptions["waitReplicas"]>,
  commandTimeoutMs: number,
): void {
  if (!Number.isInteger(count) || count < 1) {
    throw invalid(`takes a whole number from 1 as waitReplicas.count, not ${count}`);
  }
  // WAIT without a timeout waits for ever.
  requireDuration(timeoutMs, "waitReplicas.timeoutMs");
  if (timeoutMs >= commandTimeoutMs) {
    throw invalid(`needs waitReplicas.timeoutMs (${timeoutMs}) below commandTimeoutMs (${commandTimeoutMs})`);
  }
}

function requireDuration(value: number, name: string): void {
  if (!Number.isInteger(value) || value < 1 || value > 2_147_483_647) {
    throw invalid(`takes whole milliseconds from 1 as ${name}, not ${value}`);
  }
}

function requireFreeOptions(client: RedisClientOptions): void {
  const taken = Object.keys(client).filter((name) => reserved.includes(name));
  if (taken.length > 0) throw invalid(`sets ${taken.join(", ")} itself; leave it out of \`client\``);
}

function invalid(sentence: string): EverstepError {
  return new EverstepError("INVALID_ARGUMENT", `redis() ${sentence}.`);
}
