import { EverstepError } from "../../model/error.ts";
import { checkNames, type NamesOf } from "../../model/known-names.ts";
import { checkNamespace } from "../../store/namespace.ts";
import { loadDriver, type RedisClientOptions, type RedisDriver } from "./driver.ts";
import {
  type ClusterSettings,
  clusterSettings,
  clusterUrls,
  isCluster,
  type RedisCluster,
} from "./server/nodes.ts";

export interface RedisOptions {
  /** redis://[user:password@]host[:port][/database], or rediss:// for TLS. Of a cluster, any node. */
  readonly url?: string;
  /**
   * Instead of `url`: a `Cluster` of ioredis. The store takes its nodes and options and connects by itself to the node
   * that serves the namespace; it neither uses nor closes the client.
   */
  readonly cluster?: RedisCluster;
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
  /** What the user has named; the first of several. */
  readonly url: string;
  /** Where to begin to look for the node that serves the namespace. */
  readonly urls: readonly string[];
  /** Null where it was not said that it is one. */
  readonly cluster: ClusterSettings | null;
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

const optionNames: NamesOf<RedisOptions> = {
  url: true,
  cluster: true,
  namespace: true,
  clock: true,
  commandTimeoutMs: true,
  allowEviction: true,
  waitReplicas: true,
  client: true,
  driver: true,
};

export function readOptions(given: string | RedisOptions | RedisCluster): RedisSettings {
  const options = optionsOf(given);
  checkNames(options, optionNames, "redis()");
  const { namespace = "everstep", clock = "store", commandTimeoutMs = commandTimeoutMsDefault } = options;
  const { allowEviction = false, waitReplicas = null, client = {} } = options;
  const urls = urlsOf(options);
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
  const cluster = options.cluster === undefined ? null : clusterSettings(options.cluster);
  return {
    url: urls[0] as string,
    urls,
    cluster,
    namespace,
    clock,
    commandTimeoutMs,
    allowEviction,
    waitReplicas,
    client: { ...freeOptions(cluster?.client ?? {}), ...client },
    driver: options.driver ?? (() => loadDriver()),
  };
}

function optionsOf(given: string | RedisOptions | RedisCluster): RedisOptions {
  if (typeof given === "string") return { url: given };
  return isCluster(given) ? { cluster: given } : ((given ?? {}) as RedisOptions);
}

function urlsOf({ url, cluster }: RedisOptions): readonly string[] {
  if (cluster !== undefined) {
    if (!isCluster(cluster)) throw invalid("takes a Cluster of ioredis as cluster");
    if (url !== undefined) throw invalid("takes a url or a cluster, not both");
    const urls = clusterUrls(cluster);
    if (urls.length === 0) throw invalid("needs a cluster with at least one node");
    return urls;
  }
  // The value is not shown: it may hold a password.
  if (typeof url !== "string" || !/^rediss?:\/\//.test(url)) {
    throw invalid("needs a url that begins with redis:// or rediss://, or a cluster");
  }
  return [url];
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

/** What somebody has set for a client of their own, without what would not do here. */
function freeOptions(client: RedisClientOptions): RedisClientOptions {
  const unsuited = [...reserved, "protocol", "replyMapping", "connectionName", "db", "host", "port", "path"];
  return Object.fromEntries(Object.entries(client).filter(([name]) => !unsuited.includes(name)));
}

function invalid(sentence: string): EverstepError {
  return new EverstepError("INVALID_ARGUMENT", `redis() ${sentence}.`);
}
