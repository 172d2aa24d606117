/** What the store needs of a cluster client: where its nodes are, and how to connect to them. It is never used itself. */
import type { RedisClientOptions } from "./driver.ts";
import type { NodeAddress } from "./nodes.ts";

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
