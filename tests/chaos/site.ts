/** Where the data of a test is: a server of its own, or a file. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Server, type ServerKind, startServer, whyNot } from "../../scripts/services/server.mjs";
import { Pair } from "../failover/pair.ts";
import { GaleraCluster, type GaleraNode, whyNoGalera } from "../support/galera-cluster.ts";
import type { TestCluster, TestNode } from "../support/redis-cluster.ts";
import type { Loss } from "./losses.ts";
import type { StoreKind } from "./open-store.ts";
import { TcpProxy } from "./tcp-proxy.ts";
import { monotonic } from "./time.ts";

export const storeNames: Record<StoreKind, string> = {
  sqlite: "SQLite",
  postgres: "PostgreSQL",
  mysql: "MariaDB",
  redis: "Redis",
};

/**
 * `standby`: a server that can be lost to another one, which has not all of its writes. `cluster`: three nodes of Redis, and
 * the data goes from one to the next. `galera`: three nodes of MariaDB that all take writes, and runners on each.
 */
export type Setup = (typeof setups)[number];
export const setups = ["alone", "standby", "cluster", "galera"] as const;

/** Why there can be no such site here; undefined if there can. */
export function whyNoSite(kind: StoreKind, setup: Setup = "alone"): string | undefined {
  if (setup === "cluster" && kind !== "redis") return `${storeNames[kind]} has no clusters`;
  if (setup === "standby" && kind === "sqlite") return "a file has no standby";
  if (setup === "galera") return kind === "mysql" ? whyNoGalera() : "Galera is for --store mysql";
  return kind === "sqlite" ? undefined : whyNot(kind);
}

async function startCluster(): Promise<TestCluster> {
  const { TestCluster } = await import("../support/redis-cluster.ts");
  return TestCluster.start({ primaries: 3 });
}

interface SiteParts {
  readonly server?: Server | null;
  readonly pair?: Pair | null;
  readonly cluster?: TestCluster | null;
  readonly galera?: GaleraCluster | null;
}

export interface NodeCrash {
  /** Which of the nodes. */
  readonly at: number;
  readonly downMs: number;
  readonly isBalanced: boolean;
}

/** How each server dies: without a chance to tidy up. */
const deadly: Record<ServerKind, NodeJS.Signals> = {
  postgres: "SIGQUIT",
  mysql: "SIGKILL",
  redis: "SIGKILL",
};

export class Site {
  readonly kind: StoreKind;
  readonly folder = mkdtempSync(join(tmpdir(), "everstep-chaos-"));
  /** What was written in vain, because a standby took over without it. */
  readonly losses: Loss[] = [];
  readonly #onlyServer: Server | null;
  readonly #pair: Pair | null;
  readonly #cluster: TestCluster | null;
  readonly #galera: GaleraCluster | null;
  readonly #proxies: TcpProxy[] = [];

  private constructor(
    kind: StoreKind,
    { server = null, pair = null, cluster = null, galera = null }: SiteParts,
  ) {
    this.kind = kind;
    this.#onlyServer = server;
    this.#pair = pair;
    this.#cluster = cluster;
    this.#galera = galera;
  }

  static async open(kind: StoreKind, setup: Setup = "alone"): Promise<Site> {
    const reason = whyNoSite(kind, setup);
    if (reason !== undefined) throw new Error(reason);
    if (kind === "sqlite") return new Site(kind, {});
    if (setup === "standby") return new Site(kind, { pair: await Pair.open(kind) });
    if (setup === "cluster") return new Site(kind, { cluster: await startCluster() });
    if (setup === "galera") return new Site(kind, { galera: await GaleraCluster.start() });
    return new Site(kind, { server: await startServer(kind) });
  }

  get setup(): Setup {
    if (this.#cluster) return "cluster";
    if (this.#galera) return "galera";
    return this.#pair ? "standby" : "alone";
  }

  get #server(): Server | null {
    return this.#pair?.primary ?? this.#onlyServer;
  }

  /** The straight way to the data; where there is a standby it leads there only as long as the server lives. */
  get address(): string {
    const [node] = this.#galera?.nodes ?? this.#cluster?.nodes ?? [];
    return this.#server?.url ?? node?.server.url ?? join(this.folder, "app.db");
  }

  /** The straight ways to the other nodes of a cluster all of which take writes. */
  get otherNodes(): readonly string[] {
    return (this.#galera?.nodes ?? []).slice(1).map(({ server }) => server.url);
  }

  /** A way that can be made a bad one; there is none to a file, and none to a cluster, whose nodes send clients around. */
  async openProxy(): Promise<TcpProxy | null> {
    const nodes = this.#galera?.nodes ?? [];
    const server = nodes[this.#proxies.length % nodes.length]?.server ?? this.#server;
    if (!server) return null;
    const proxy = await TcpProxy.open(server.port);
    this.#proxies.push(proxy);
    return proxy;
  }

  addressThrough(proxy: TcpProxy | null): string {
    if (proxy === null) return this.address;
    const url = new URL(this.address);
    url.port = String(proxy.port);
    return url.href;
  }

  /** The server dies and is started again on the same data. */
  async crashServer(downMs: number): Promise<void> {
    if (!this.#server) return;
    await this.#server.kill(deadly[this.#server.kind]);
    await delay(downMs);
    await this.#server.restart();
  }

  /**
   * One of the nodes dies, and joins the others again. Whoever worked with it goes to the next one meanwhile, as behind a load
   * balancer, or waits for it.
   */
  async crashNode({ at, downMs, isBalanced }: NodeCrash): Promise<void> {
    await this.#withoutNode(at, isBalanced, async (node) => {
      await node.kill();
      await delay(downMs);
      await node.rejoin();
    });
  }

  /** One of the nodes does not get to run for so long, finds that the others went on without it, and catches up. */
  async freezeNode({ at, downMs, isBalanced }: NodeCrash): Promise<void> {
    await this.#withoutNode(at, isBalanced, async (node) => {
      await node.freeze(downMs);
    });
  }

  async #withoutNode(
    at: number,
    isBalanced: boolean,
    act: (node: GaleraNode) => Promise<void>,
  ): Promise<void> {
    const nodes = this.#galera?.nodes ?? [];
    const node = nodes[at % nodes.length] as GaleraNode;
    const next = nodes[(at + 1) % nodes.length] as GaleraNode;
    const moved = isBalanced ? this.#proxies.filter((_proxy, n) => nodes[n % nodes.length] === node) : [];
    const acting = act(node);
    for (const proxy of moved) proxy.leadTo(next.server.port);
    await acting;
    for (const proxy of moved) proxy.leadTo(node.server.port);
  }

  /** For so long nothing reaches the standby; then the server dies, and the standby takes its place. */
  async failOver(lossMs: number): Promise<void> {
    if (!this.#pair) return;
    const from = monotonic();
    await this.#pair.detach();
    await delay(lossMs);
    const port = await this.#pair.failOver();
    for (const proxy of this.#proxies) proxy.leadTo(port);
    this.losses.push({ from, to: monotonic() });
    await this.#pair.addStandby();
  }

  /** The namespace goes from the node that serves it to the next one, so many keys at a time. */
  async moveSlot(keysAtOnce: number): Promise<void> {
    const cluster = this.#cluster;
    if (!cluster) return;
    const slot = await cluster.slotOf("everstep");
    const at = cluster.nodes.indexOf(await cluster.nodeOf(slot));
    await cluster.moveSlot(slot, cluster.nodes[(at + 1) % cluster.nodes.length] as TestNode, keysAtOnce);
  }

  async close(): Promise<void> {
    await this.#cluster?.stop();
    await this.#galera?.stop();
    await this.#pair?.close();
    await this.#onlyServer?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
