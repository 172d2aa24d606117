/** A Redis cluster of a test's own: nodes on loopback ports, slots that can be moved key by key, replicas that take over. */
import { setTimeout as delay } from "node:timers/promises";
import type { RedisClient } from "../../packages/everstep/src/stores/redis/driver.ts";
import { freePort, TestServer } from "../../packages/everstep/src/stores/redis/test-server.ts";
import { openClient } from "../../packages/everstep/src/stores/redis/test-support.ts";

const slotCount = 16_384;
const nodeTimeoutMs = 1000;

/** First and last slot, then the node that serves them: host, port and id. */
type SlotRange = readonly [number, number, readonly [string, number, string]];

export interface TestNode {
  readonly server: TestServer;
  readonly client: RedisClient;
  readonly id: string;
  readonly port: number;
}

export class TestCluster {
  readonly nodes: readonly TestNode[];

  /** The slots are shared out among the primaries; all replicas follow the first. */
  static async start({ primaries = 3, replicas = 0 } = {}): Promise<TestCluster> {
    const busPorts = new Map<number, number>();
    const start = async (): Promise<TestNode> => {
      const busPort = await freePort();
      const server = await TestServer.start({
        "cluster-enabled": "yes",
        "cluster-port": String(busPort),
        "cluster-node-timeout": String(nodeTimeoutMs),
        "repl-diskless-sync-delay": "0",
        // A replica that is left goes to the new primary, never to one that seems to have lost its own.
        "cluster-allow-replica-migration": "no",
      });
      const client = await openClient(server.url);
      busPorts.set(server.port, busPort);
      return { server, client, id: String(await client.call("CLUSTER", ["MYID"])), port: server.port };
    };
    const nodes: TestNode[] = [];
    for (let n = 0; n < primaries + replicas; n += 1) nodes.push(await start());
    const cluster = new TestCluster(nodes);
    const [first, ...others] = nodes as [TestNode, ...TestNode[]];
    for (const { port } of others) {
      await first.client.call("CLUSTER", ["MEET", "127.0.0.1", String(port), String(busPorts.get(port))]);
    }
    await cluster.#each((client) => until(async () => (await nodeLines(client)).length === nodes.length));
    for (const [n, { client }] of nodes.slice(0, primaries).entries()) {
      const from = Math.floor((n * slotCount) / primaries);
      const to = Math.floor(((n + 1) * slotCount) / primaries) - 1;
      await client.call("CLUSTER", ["ADDSLOTSRANGE", String(from), String(to)]);
    }
    for (const { client } of nodes.slice(primaries)) await client.call("CLUSTER", ["REPLICATE", first.id]);
    await cluster.isWhole();
    if (replicas > 0) {
      await cluster.#each((client) => until(async () => !/master_link_status:down/.test(await info(client))));
    }
    return cluster;
  }

  private constructor(nodes: readonly TestNode[]) {
    this.nodes = nodes;
  }

  async stop(): Promise<void> {
    for (const { client } of this.nodes) client.disconnect();
    await Promise.all(this.nodes.map(({ server }) => server.stop()));
  }

  /** Resolves when all nodes that live, and import no slot, agree that every slot is served. */
  async isWhole(): Promise<void> {
    await this.#each((client) =>
      until(
        async () =>
          /cluster_state:ok/.test(String(await client.call("CLUSTER", ["INFO"]))) ||
          (await ownLine(client)).includes("-<-"),
      ),
    );
  }

  async slotOf(namespace: string): Promise<number> {
    return Number(await this.nodes[0]?.client.call("CLUSTER", ["KEYSLOT", `{${namespace}}:meta`]));
  }

  /** The one that says of itself that it serves the slot. */
  async nodeOf(slot: number): Promise<TestNode> {
    for (const node of this.#living()) {
      if ((await serverOf(slot, node.client)) === node.id) return node;
    }
    throw new Error(`No node serves slot ${slot}.`);
  }

  /** As `redis-cli --cluster reshard` does it; resolves when every node that lives knows of the move. */
  async moveSlot(slot: number, to: TestNode, keysAtOnce = 10): Promise<void> {
    const from = await this.nodeOf(slot);
    await this.beginMove(slot, from, to);
    while ((await this.moveKeys(slot, from, to, keysAtOnce)) > 0);
    await this.endMove(slot, to);
    // An older message between two nodes can bring back, for a moment, who served the slot before.
    await this.#each((client) =>
      until(async () => client.status !== "ready" || (await serverOf(slot, client)) === to.id),
    );
  }

  async beginMove(slot: number, from: TestNode, to: TestNode): Promise<void> {
    await to.client.call("CLUSTER", ["SETSLOT", String(slot), "IMPORTING", from.id]);
    await from.client.call("CLUSTER", ["SETSLOT", String(slot), "MIGRATING", to.id]);
  }

  /** Gives how many there were. A key that is at both places is an error, as it is for people who move slots. */
  async moveKeys(slot: number, from: TestNode, to: TestNode, count: number): Promise<number> {
    const keys = (await from.client.call("CLUSTER", [
      "GETKEYSINSLOT",
      String(slot),
      String(count),
    ])) as string[];
    if (keys.length === 0) return 0;
    await this.moveThese(keys, from, to);
    return keys.length;
  }

  async moveThese(keys: readonly string[], from: TestNode, to: TestNode): Promise<void> {
    await from.client.call("MIGRATE", ["127.0.0.1", String(to.port), "", "0", "5000", "KEYS", ...keys]);
  }

  async endMove(slot: number, to: TestNode): Promise<void> {
    const others = this.nodes.filter((node) => node !== to);
    for (const { client } of [to, ...others]) {
      if (client.status === "ready")
        await client.call("CLUSTER", ["SETSLOT", String(slot), "NODE", to.id]).catch(ignoreReplica);
    }
  }

  /**
   * Kills the node that serves the slot; resolves when another one does, and all nodes but those that import one know it.
   * Which node that is, is asked now: on a busy machine a replica may have taken over before.
   */
  async failOver(slot: number): Promise<void> {
    const node = await this.nodeOf(slot);
    await node.server.kill();
    await until(() => node.client.status !== "ready");
    await until(() =>
      this.nodeOf(slot).then(
        () => true,
        () => false,
      ),
    );
    await this.isWhole();
  }

  #living(): readonly TestNode[] {
    return this.nodes.filter(({ client }) => client.status === "ready");
  }

  async #each(act: (client: RedisClient) => Promise<void>): Promise<void> {
    await Promise.all(this.#living().map(({ client }) => act(client)));
  }
}

/** The id of the node that serves the slot, as the one asked believes. */
async function serverOf(slot: number, client: RedisClient): Promise<string | undefined> {
  const ranges = (await client.call("CLUSTER", ["SLOTS"])) as SlotRange[];
  return ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][2];
}

/** Replicas know the slots of their primary from it. */
function ignoreReplica(error: Error): void {
  if (!/only with masters/.test(error.message)) throw error;
}

async function nodeLines(client: RedisClient): Promise<readonly string[]> {
  const text = String(await client.call("CLUSTER", ["NODES"]));
  return text.split("\n").filter((line) => line !== "" && !line.includes("handshake"));
}

/** What a node says of itself. */
async function ownLine(client: RedisClient): Promise<string> {
  return (await nodeLines(client)).find((line) => line.includes("myself")) as string;
}

async function info(client: RedisClient): Promise<string> {
  return String(await client.call("INFO", ["replication"]));
}

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(20);
}
