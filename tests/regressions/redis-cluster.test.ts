/** A real cluster of three nodes whose slots move while the store works, and one whose nodes fail. */
import { Cluster } from "ioredis";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { loadDriver } from "../../packages/everstep/src/stores/redis/driver.ts";
import type { RedisStore } from "../../packages/everstep/src/stores/redis/redis-store.ts";
import { serverProgram } from "../../packages/everstep/src/stores/redis/test-server.ts";
import {
  keysOf,
  namespaceOf,
  openFresh,
  reopen,
} from "../../packages/everstep/src/stores/redis/test-support.ts";
import type { RedisCommands } from "../../packages/everstep/src/stores/redis/write/mutations.ts";
import {
  erased,
  instance,
  started,
  stepsOf,
  suspended,
  write,
} from "../../packages/everstep/src/testing/store-contract/acts.ts";
import {
  at,
  awaitingTopic,
  boundary,
  claimRequest,
  commit,
  completed,
  create,
  leaseMs,
  never,
  pause,
  publish,
  ref,
  restart,
  sendEvent,
  terminate,
} from "../../packages/everstep/src/testing/store-contract/given.ts";
import { TestCluster, type TestNode, until } from "../support/redis-cluster.ts";

const moving = {
  failure: "unavailable",
  code: "STORE_UNAVAILABLE",
  message: expect.stringContaining("moving"),
};

describe.skipIf(serverProgram === undefined)("a node that dies while its slot moves", () => {
  test("leaves a replica that has part of the namespace: nothing is done with it until the move is finished", async () => {
    const cluster = await TestCluster.start({ primaries: 3, replicas: 1 });
    onTestFinished(() => cluster.stop());
    const [from, to] = cluster.nodes as [TestNode, TestNode];
    const client = new Cluster([{ host: "127.0.0.1", port: to.port }], { lazyConnect: true });
    let store = openFresh({ cluster: client });
    while ((await cluster.nodeOf(await cluster.slotOf(namespaceOf(store)))) !== from)
      store = openFresh({ cluster: client });
    await write(store, create("a"));
    await write(store, create("b"));
    const slot = await cluster.slotOf(namespaceOf(store));
    const keys = await keysOf(from.client, namespaceOf(store));
    const goes = keys.filter((key) => !key.endsWith(":meta")).slice(0, 4);
    await cluster.beginMove(slot, from, to);
    await cluster.moveThese(goes, from, to);
    expect(await from.client.call("WAIT", ["1", "5000"])).toBe(1);
    await cluster.failOver(slot);

    const half = { failure: "unavailable", message: expect.stringContaining("redis-cli --cluster fix") };
    const newcomer = reopen(store, { cluster: client });
    await expect(store.getInstance(ref("a"))).rejects.toMatchObject(half);
    await expect(store.write([create("a")], at(1))).rejects.toMatchObject(half);
    await expect(store.renew([], never, at(1))).rejects.toMatchObject(half);
    await expect(newcomer.migrate()).rejects.toMatchObject(half);

    await to.client.call("CLUSTER", ["SETSLOT", String(slot), "STABLE"]);
    await cluster.isWhole();
    await expect(store.getInstance(ref("a"))).rejects.toMatchObject(half);
    const promoted = await cluster.nodeOf(slot);
    await cluster.beginMove(slot, promoted, to);
    while ((await cluster.moveKeys(slot, promoted, to, 10)) > 0);
    await cluster.endMove(slot, to);
    expect((await instance(store, "a")).status).toBe("active");
    expect((await newcomer.claim(claimRequest({ now: at(1) }))).length).toBe(2);
    await Promise.all([store.close(), newcomer.close()]);
  });
});

describe.skipIf(serverProgram === undefined)("on a cluster of three nodes", () => {
  let cluster: TestCluster;
  let client: Cluster;
  beforeAll(async () => {
    cluster = await TestCluster.start({ primaries: 3 });
    client = new Cluster([{ host: "127.0.0.1", port: cluster.nodes[0]?.port as number }], {
      lazyConnect: true,
    });
  });
  afterAll(async () => {
    client?.disconnect();
    await cluster?.stop();
  });

  test("while the namespace's slot moves, no script does anything on either node, and nothing is lost", async () => {
    const store = open();
    const { lease } = await started(store, "a");
    await suspended(store, "b", [awaitingTopic(1, "news", never)], never);
    await write(store, create("c"));
    const { slot, from, to } = await placesOf(store);
    const keys = await keysOf(from.client, namespaceOf(store));
    const before = await contents(store);
    const newcomer = reopen(store, { cluster: client });
    const calls: Record<string, () => Promise<unknown>> = {
      create: () => store.write([create("new")], at(1)),
      "create again": () => store.write([create("c")], at(1)),
      commit: () => store.write([commit(lease, boundary(1, { steps: [completed(1)] }))], at(1)),
      event: () => store.write([sendEvent("b", "e1", "x")], at(1)),
      publish: () => store.write([publish("p1", "news")], at(1)),
      claim: () => store.claim(claimRequest({ now: at(1) })),
      renew: () => store.renew([{ lease, begun: [] }], never, at(1)),
      release: () => store.release([lease], at(1)),
      prune: () => store.prune({ before: never, limit: 5 }),
      "a newcomer": () => newcomer.migrate(),
      pause: () => store.write([pause("a")], at(1)),
      terminate: () => store.write([terminate("b")], at(1)),
      restart: () => store.write([restart("b")], at(1)),
      wake: () => store.write([{ kind: "wake", runId: lease.runId, token: lease.token }], at(1)),
      abandon: () =>
        store.write([{ kind: "abandon", owner: lease.owner, fate: { kind: "expire" } }], at(leaseMs)),
      remove: () => erased(store, ref("c")),
      get: () => store.getInstance(ref("a")),
      "get many": () => store.getInstances([ref("a"), ref("b")]),
      statuses: () => store.getStatuses([ref("a"), ref("b")]),
      list: () => store.listInstances({ limit: 5 }),
      "list runs": () => store.listRuns(ref("a"), 5),
      // A turn that took half of a history for all of it would run steps again.
      histories: () => store.readRuns([{ runId: lease.runId, steps: true, eventsAfter: 0 }]),
      steps: () => store.listSteps(lease.runId, { limit: 5 }),
      events: () => store.listEvents(lease.runId, { limit: 5 }),
      logs: () => store.listLogs(lease.runId, { limit: 5 }),
      counts: () => store.countByStatus(),
      "next due": () => store.nextDueAt(["order"]),
      due: () => store.listDue({ before: never, limit: 5 }),
    };
    await cluster.beginMove(slot, from, to);
    for (let moved = 0; moved <= keys.length; moved += 1) {
      for (const [name, call] of Object.entries(calls)) {
        await expect(call(), `${name} when ${moved} of ${keys.length} keys are there`).rejects.toMatchObject(
          moving,
        );
      }
      expect(await contents(store)).toEqual(before);
      if (moved < keys.length) await cluster.moveThese([keys[moved] as string], from, to);
    }
    await cluster.endMove(slot, to);
    expect(await contents(store)).toEqual(before);
    const request = commit(lease, boundary(1, { steps: [completed(1)] }));
    expect(await store.write([request], at(2))).toMatchObject([{ kind: "committed" }]);
    expect(await store.renew([{ lease, begun: [] }], never, at(2))).toMatchObject([{ kind: "renewed" }]);
    expect(await stepsOf(store, lease.runId)).toHaveLength(1);
    expect((await store.claim(claimRequest({ now: at(2) }))).map(({ instanceId }) => instanceId)).toEqual([
      "c",
    ]);
    await Promise.all([store.close(), newcomer.close()]);
  });

  test("any node will do to begin with, and a namespace that has moved is followed", async () => {
    const store = open();
    await write(store, create("a"));
    const { slot, from, to } = await placesOf(store);
    const others = cluster.nodes.map((node) => reopen(store, { url: node.server.url }));
    for (const other of others) expect((await instance(other, "a")).status).toBe("active");
    await cluster.moveSlot(slot, to);
    for (const other of [store, ...others]) expect((await instance(other, "a")).status).toBe("active");
    await write(store, create("b"));
    await cluster.moveSlot(slot, from);
    expect((await store.claim(claimRequest({ now: at(1) }))).length).toBe(2);
    await Promise.all([store, ...others].map((each) => each.close()));
  });

  test("time and settings are asked of the node that serves the namespace", async () => {
    const store = open();
    await store.migrate();
    const { slot, from, to } = await placesOf(store);
    await to.client.call("CONFIG", ["SET", "appendfsync", "everysec"]);
    const calls = async ({ client: node }: TestNode): Promise<number> =>
      Number(/cmdstat_time:calls=(\d+)/.exec(String(await node.call("INFO", ["commandstats"])))?.[1] ?? 0);
    const before = await calls(from);
    await store.serverTime?.();
    expect(await calls(from)).toBe(before + 1);
    expect(await store.warnings()).toEqual([]);
    await cluster.moveSlot(slot, to);
    // Whoever works notices where it is now.
    await write(store, create("a"));
    expect(await store.warnings()).toMatchObject([{ code: "FSYNC_EVERY_SECOND" }]);
    await to.client.call("CONFIG", ["SET", "appendfsync", "always"]);
    await store.close();
  });

  test("nudges reach whoever listens on another node, and are told apart from a store's own", async () => {
    const store = open();
    const other = reopen(store, { cluster: client });
    await Promise.all([store.migrate(), other.migrate()]);
    const heard: string[] = [];
    const listen = (who: string, each: RedisStore) =>
      each.subscribe({ onNudge: ({ due }) => heard.push(`${who} ${due}`), onLost: () => {} });
    await listen("store", store);
    await listen("other", other);
    const { slot, to } = await placesOf(store);
    await cluster.moveSlot(slot, to);
    await write(store, create("a"));
    await until(() => heard.length > 0);
    await write(other, create("b"));
    await until(() => heard.length > 1);
    expect(heard).toEqual(["other true", "store true"]);
    await Promise.all([store.close(), other.close()]);
  });

  test("topics of a time without a list of them are all found though the slot moves meanwhile", async () => {
    const store = open();
    await suspended(store, "a", [awaitingTopic(1, "news", never)], never);
    const { slot, from, to } = await placesOf(store);
    const meta = `{${namespaceOf(store)}}:meta`;
    await from.client.call("HDEL", [meta, "topics"]);
    await from.client.call("DEL", [`{${namespaceOf(store)}}:topics`]);
    let isMoved = false;
    const looking = reopen(store, {
      cluster: client,
      driver: async () => {
        const { create: connect } = await loadDriver();
        return {
          create: (url, options) => {
            const made = connect(url, options);
            const call = made.call.bind(made);
            made.call = async (command, args) => {
              if (command === "SCAN" && !isMoved) {
                isMoved = true;
                await cluster.moveSlot(slot, to);
              }
              return call(command, args);
            };
            return made;
          },
        };
      },
    });
    expect((await looking.listTopics({ limit: 5 })).items).toEqual([{ topic: "news", waiters: 1 }]);
    expect(isMoved).toBe(true);
    await Promise.all([store.close(), looking.close()]);
  });

  test("an author's key in another slot is refused before anything of the mutation is written", async () => {
    const store = open();
    const { lease } = await started(store, "a");
    const { from } = await placesOf(store);
    let elsewhere = "elsewhere";
    while ((await cluster.nodeOf(await cluster.slotOf(elsewhere))) === from) elsewhere += "x";
    const mutate = (db: RedisCommands) => db.set(db.key("here"), "1").set(`{${elsewhere}}:meta`, "1");
    const mutations = { serviceCalls: [], mutate: [mutate] };
    const [outcome] = await store.write([commit(lease, boundary(1, {}), { mutations })], at(1));
    expect(outcome).toMatchObject({
      kind: "mutation-failed",
      conflict: false,
      error: { code: "MUTATION_INVALID", message: expect.stringContaining("commands.key") },
    });
    expect(await from.client.call("EXISTS", [`{${namespaceOf(store)}}/here`])).toBe(0);
    await store.close();
  });

  function open(): RedisStore {
    return openFresh({ cluster: client });
  }

  async function placesOf(store: RedisStore): Promise<{ slot: number; from: TestNode; to: TestNode }> {
    const slot = await cluster.slotOf(namespaceOf(store));
    const from = await cluster.nodeOf(slot);
    return { slot, from, to: cluster.nodes.find((node) => node !== from) as TestNode };
  }

  /** Of all nodes together. */
  async function contents(store: RedisStore): Promise<unknown> {
    const found: [string, unknown][] = [];
    for (const node of cluster.nodes) {
      for (const key of await keysOf(node.client, namespaceOf(store))) {
        // A node of a slot that moves serves what it has to those who insist.
        await node.client.call("ASKING", []);
        found.push([key, await node.client.call("DUMP", [key])]);
      }
    }
    return found.sort(([one], [other]) => (one < other ? -1 : 1));
  }
});
