/** Work goes on while a real Redis Cluster moves the namespace from node to node, and when a node of it dies. */
import { setTimeout as delay } from "node:timers/promises";
import { createWorkflows, defineWorkflow } from "everstep";
import { type RedisOptions, redis } from "everstep/redis";
import { Cluster } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { serverProgram } from "../../packages/everstep/src/stores/redis/test-server.ts";
import { TestCluster, type TestNode } from "../support/redis-cluster.ts";

describe.skipIf(serverProgram === undefined)("on a Redis Cluster", () => {
  test("no instance is lost or done twice while the namespace's slot moves under load", {
    timeout: 300_000,
  }, async () => {
    const cluster = await TestCluster.start({ primaries: 3 });
    const load = await Load.begin(cluster, {});
    const slot = await cluster.slotOf(load.namespace);
    for (let n = 0; n < 3; n += 1) {
      await load.moreAreDone(40);
      const from = await cluster.nodeOf(slot);
      const next = cluster.nodes[(cluster.nodes.indexOf(from) + 1) % cluster.nodes.length] as TestNode;
      await cluster.moveSlot(slot, next, 3);
    }
    await load.moreAreDone(40);
    await load.end();
    expect(load.twice()).toEqual([]);
  });

  test("no acknowledged instance is lost when the node that serves it dies and a replica takes over", {
    timeout: 300_000,
  }, async () => {
    const cluster = await TestCluster.start({ primaries: 3, replicas: 2 });
    const [first] = cluster.nodes as [TestNode];
    const load = await Load.begin(cluster, { waitReplicas: { count: 1, timeoutMs: 1000 } }, first);
    await load.moreAreDone(100);
    await cluster.failOver(await cluster.slotOf(load.namespace));
    await load.moreAreDone(100);
    await load.end();
  });
});

/** Two apps on one namespace: instances are created all the time, and each has steps, a sleep and an event. */
class Load {
  readonly namespace: string;
  readonly #apps: readonly LoadApp[];
  readonly #bodies = new Map<string, number>();
  readonly #created: string[] = [];
  #creating: Promise<void> | undefined;
  #isOver = false;

  /** On a namespace that `node` serves, if one is named. */
  static async begin(cluster: TestCluster, options: RedisOptions, node?: TestNode): Promise<Load> {
    let namespace = "load";
    const isThere = async (): Promise<boolean> =>
      (await cluster.nodeOf(await cluster.slotOf(namespace))) === node;
    for (let n = 0; node !== undefined && !(await isThere()); n += 1) namespace = `load${n}`;
    const [{ port }] = cluster.nodes.slice(-1) as [TestNode];
    const client = new Cluster([{ host: "127.0.0.1", port }], { lazyConnect: true });
    const load = new Load(namespace, () =>
      redis({ cluster: client, namespace, commandTimeoutMs: 3000, ...options }),
    );
    onTestFinished(async () => {
      load.#isOver = true;
      await Promise.all(load.#apps.map((app) => app.stop()));
      client.disconnect();
      await cluster.stop();
    });
    await Promise.all(load.#apps.map((app) => app.start()));
    load.#creating = load.#create();
    return load;
  }

  private constructor(namespace: string, open: () => ReturnType<typeof redis>) {
    this.namespace = namespace;
    this.#apps = [0, 1].map(() => createLoadApp(open(), (body) => this.#count(body)));
  }

  /** Resolves when so many more instances are complete than now. */
  async moreAreDone(count: number): Promise<void> {
    const wanted = (await this.#complete()) + count;
    while ((await this.#complete()) < wanted) await delay(50);
  }

  /** Nothing more is created, and everything that was ends as it should. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#creating;
    const [app] = this.#apps as [LoadApp];
    const open = async (): Promise<string[]> => {
      const statuses = await Promise.all(
        this.#created.map((id) => app.workflows.W.get(id).then((it) => it.status())),
      );
      return this.#created.filter((_id, n) => statuses[n]?.status !== "complete");
    };
    await expect.poll(open, { timeout: 120_000, interval: 250 }).toEqual([]);
    const { ok, violations, warnings } = await app.verify();
    expect({ ok, violations, warnings }).toEqual({ ok: true, violations: [], warnings: [] });
  }

  /** Bodies that ran more than once. */
  twice(): readonly string[] {
    return [...this.#bodies].filter(([, count]) => count > 1).map(([body]) => body);
  }

  async #complete(): Promise<number> {
    return (await (this.#apps[0] as LoadApp).counts()).complete;
  }

  #count(body: string): void {
    this.#bodies.set(body, (this.#bodies.get(body) ?? 0) + 1);
  }

  async #create(): Promise<void> {
    for (let n = 0; !this.#isOver; n += 1) {
      const app = this.#apps[n % 2] as LoadApp;
      const ids = Array.from({ length: 5 }, (_unused, m) => `i${n}-${m}`);
      await Promise.all(ids.map((id) => app.workflows.W.create({ id })));
      this.#created.push(...ids);
      await delay(20);
    }
  }
}

type LoadApp = ReturnType<typeof createLoadApp>;

function createLoadApp(store: ReturnType<typeof redis>, count: (body: string) => void) {
  const workflow = defineWorkflow({ name: "w" }, async ({ instanceId }, step) => {
    await step.do("one", async () => count(`${instanceId} one`));
    await step.sleep("nap", 30);
    await step.do("two", async () => count(`${instanceId} two`));
    await step.do("three", async () => count(`${instanceId} three`));
  });
  return createWorkflows({ workflows: { W: workflow }, store, runner: { poll: 100 }, onProblem: () => {} });
}
