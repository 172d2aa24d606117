/**
 * Which node to connect to. A namespace lies in one slot of a cluster, so one node serves all of it; who that is, the
 * nodes say themselves, by sending whoever asks the wrong one to the right one. A single server is a list of one.
 */
import { StoreError } from "../../../model/error.ts";
import type { RedisClient, RedisClientOptions } from "../driver.ts";
import type { RedisSettings } from "../options.ts";
import { placeOf } from "./failures.ts";

export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

export class Nodes {
  readonly #settings: RedisSettings;
  /** Addresses to connect to, in the order in which they became known. */
  readonly #urls: string[];
  #chosen = 0;
  #isCluster: boolean;

  constructor(settings: RedisSettings) {
    this.#settings = settings;
    this.#urls = [...settings.urls];
    this.#isCluster = settings.cluster !== null;
  }

  /** There are others to ask. */
  get isCluster(): boolean {
    return this.#isCluster;
  }

  /** Where the namespace was served last, as far as is known. */
  get url(): string {
    return this.#urls[this.#chosen] as string;
  }

  /** One that none of these is; undefined when there is no other. */
  otherThan(tried: ReadonlySet<string>): string | undefined {
    return this.#urls.find((url) => !tried.has(url));
  }

  /** `url` is the one to connect to from now on. */
  choose(url: string): void {
    const place = this.#urls.indexOf(url);
    this.#chosen = place === -1 ? this.#urls.push(url) - 1 : place;
  }

  /** `url` does not serve the namespace any more, or cannot be reached. */
  leave(url: string): void {
    if (this.url === url) this.#chosen = (this.#chosen + 1) % this.#urls.length;
  }

  /** Follows "MOVED 3999 10.0.0.2:6381", which the node at `from` has answered. */
  follow(answer: string, from: string): string {
    this.#isCluster = true;
    const place = answer.split(" ")[2] ?? "";
    const colon = place.lastIndexOf(":");
    const url = this.#urlOf({ host: place.slice(0, colon), port: Number(place.slice(colon + 1)) }, from);
    this.choose(url);
    return url;
  }

  /**
   * All nodes of the cluster that the client is connected to, so that there is somebody to ask when one of them fails. Gives
   * the primaries beside the one that was asked.
   */
  async learn(client: RedisClient, from: string): Promise<readonly string[]> {
    const ranges = (await client.call("CLUSTER", ["SLOTS"]).catch(() => [])) as SlotRange[];
    this.#isCluster = true;
    const urlOf = ([host, port]: Serving): string => this.#urlOf({ host: host ?? "", port }, from);
    for (const url of ranges.flatMap(([, , ...serving]) => serving.map(urlOf))) {
      if (!this.#urls.includes(url)) this.#urls.push(url);
    }
    const primaries = ranges.flatMap(([, , primary]) => (primary === undefined ? [] : [urlOf(primary)]));
    const here = urlOf([null, Number(new URL(from).port || 6379)]);
    return [...new Set(primaries)].filter((url) => url !== here && url !== from);
  }

  /** User, password and TLS are the same on all nodes. A node that does not know its own host is where it was asked. */
  #urlOf({ host, port }: NodeAddress, from: string): string {
    const url = new URL(from);
    const told = host === "" || host === "?" ? url.hostname : host;
    const mapped = this.#settings.cluster?.mapped(`${told}:${port}`) ?? { host: told, port };
    url.hostname =
      mapped.host.includes(":") && !mapped.host.startsWith("[") ? `[${mapped.host}]` : mapped.host;
    url.port = String(mapped.port);
    return url.href;
  }
}

/** First and last slot, then the primary and its replicas. */
type SlotRange = readonly [number, number, ...Serving[]];
type Serving = readonly [host: string | null, port: number, ...unknown[]];

/** What the store needs of a cluster client: where its nodes are, and how to connect to them. It is never used itself. */

/** `Cluster` of ioredis, as much of it as is looked at. */
export interface RedisCluster {
  readonly isCluster: boolean;
  readonly options: object;
  nodes(role?: "all"): readonly { readonly options: object }[];
}

export interface ClusterSettings {
  /** Options of the driver for every node. */
  readonly client: RedisClientOptions;
  /** What its `natMap` makes of an address that a node has told. */
  mapped(address: string): NodeAddress | undefined;
}

export function isCluster(value: unknown): value is RedisCluster {
  return typeof value === "object" && value !== null && (value as Partial<RedisCluster>).isCluster === true;
}

export function clusterSettings(cluster: RedisCluster): ClusterSettings {
  const { redisOptions = {}, natMap } = cluster.options as ClusterOptions;
  return {
    client: redisOptions,
    mapped: (address) => (typeof natMap === "function" ? natMap(address) : natMap?.[address]) ?? undefined,
  };
}

/** Those it was given, and those it has found. */
export function clusterUrls(cluster: RedisCluster): readonly string[] {
  const { startupNodes = [] } = cluster as { readonly startupNodes?: readonly StartupNode[] };
  const found = cluster.nodes("all").map(({ options }) => options as StartupNode);
  return [...new Set([...startupNodes, ...found].map(urlOf))];
}

interface ClusterOptions {
  readonly redisOptions?: RedisClientOptions;
  readonly natMap?: Readonly<Record<string, NodeAddress>> | ((address: string) => NodeAddress | null);
}

type StartupNode = string | number | { readonly host?: string; readonly port?: number | string };

function urlOf(node: StartupNode): string {
  if (typeof node === "string" && /^rediss?:\/\//.test(node)) return new URL(node).href;
  if (typeof node === "string") return new URL(`redis://${node}`).href;
  const { host = "127.0.0.1", port = 6379 } = typeof node === "number" ? { port: node } : node;
  return `redis://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * Finds what a move of the namespace's slot has left behind. While a slot moves, both nodes know it, and scripts are
 * refused. But a replica that takes over for the old node does not know of the move: it serves the keys that were left as
 * if they were all. So whoever connects to a node of a cluster looks whether others have keys of the slot too.
 */

/** `others` are the primaries that serve other slots. */
export async function requireWhole(
  client: RedisClient,
  others: readonly string[],
  open: (url: string) => Promise<RedisClient>,
  settings: RedisSettings,
): Promise<void> {
  const slot = String(await client.call("CLUSTER", ["KEYSLOT", `{${settings.namespace}}:meta`]));
  const counts = await Promise.all(others.map((url) => countKeys(slot, () => open(url))));
  const count = counts.reduce((sum, each) => sum + each, 0);
  if (count === 0) return;
  throw new StoreError(
    "unavailable",
    "STORE_UNAVAILABLE",
    `${placeOf(settings)}: ${count} keys of the namespace are at another node than the one that serves it, because a move of ` +
      `slot ${slot} is not finished, so nothing was done. If it is not under way, finish it: redis-cli --cluster fix.`,
    { details: { slot, count } },
  );
}

/** 0 where it cannot be asked: a node that is gone has nothing that could be missed. */
async function countKeys(slot: string, open: () => Promise<RedisClient>): Promise<number> {
  let client: RedisClient | undefined;
  try {
    client = await open();
    return Number(await client.call("CLUSTER", ["COUNTKEYSINSLOT", slot]));
  } catch {
    return 0;
  } finally {
    client?.disconnect();
  }
}
