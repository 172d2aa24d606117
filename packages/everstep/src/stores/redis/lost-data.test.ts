/** What happens when the server forgets, is full, or is not the one it was. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  claimOne,
  erased,
  everyPage,
  instance,
  started,
  stepsOf,
  superseded,
  suspended,
  write,
} from "../../testing/store-contract/acts.ts";
import {
  at,
  awaitingTopic,
  boundary,
  claimRequest,
  commit,
  complete,
  completed,
  create,
  leaseMs,
  logLine,
  never,
  publish,
  ref,
  restart,
  sendEvent,
  value,
} from "../../testing/store-contract/given.ts";
import type { RedisClient } from "./driver.ts";
import type { RedisStore } from "./redis-store.ts";
import { serverProgram, TestServer } from "./test-server.ts";
import { keysOf, namespaceOf, openFresh, reopen } from "./test-support.ts";
import type { RedisCommands } from "./write/mutations.ts";

describe.skipIf(serverProgram === undefined)("data that is removed under a running process", () => {
  let server: TestServer;
  let client: RedisClient;
  let store: RedisStore;
  beforeAll(async () => {
    server = await TestServer.start();
    client = await server.client();
  });
  afterAll(async () => {
    client?.disconnect();
    await server?.stop();
  });
  beforeEach(async () => {
    store = openFresh({ url: server.url });
    await write(store, create("a"));
  });
  afterEach(() => store.close());

  const gone = {
    failure: "fatal",
    code: "STORE_CORRUPT",
    message: expect.stringContaining("removed or replaced"),
  };

  test("is noticed by every call, and nothing is written into the empty place", async () => {
    const { lease } = await started(store, "b");
    await client.call("FLUSHALL", []);
    for (const call of [
      () => store.write([create("c")], at(1)),
      () => store.claim(claimRequest({ now: at(1) })),
      () => store.renew([{ lease, begun: [] }], never, at(1)),
      () => store.release([lease], at(1)),
      () => store.readRuns([{ runId: lease.runId, steps: true, eventsAfter: 0 }]),
      () => store.getInstance(ref("a")),
      () => store.listInstances({ limit: 5 }),
      () => store.prune({ before: never, limit: 5 }),
      () => store.migrate(),
    ]) {
      await expect(call()).rejects.toMatchObject(gone);
    }
    expect(await client.call("DBSIZE", [])).toBe(0);
  });

  test("is noticed too when something else is there now, also after a new connection", async () => {
    const other = reopen(store, { url: server.url });
    await other.migrate();
    await client.call("FLUSHALL", []);
    const newcomer = reopen(store, { url: server.url });
    await write(newcomer, create("new"));
    await expect(store.write([create("c")], at(1))).rejects.toMatchObject(gone);
    await client.call("CLIENT", ["KILL", "TYPE", "normal", "SKIPME", "yes"]);
    await expect(other.write([create("c")], at(1))).rejects.toMatchObject(gone);
    expect((await newcomer.countByStatus()).active).toBe(1);
    await Promise.all([other.close(), newcomer.close()]);
  });
});

describe.skipIf(serverProgram === undefined)("a server that comes back without its last writes", () => {
  let server: TestServer;
  let store: RedisStore;
  beforeEach(async () => {
    server = await TestServer.start({ appendonly: "no" });
    store = openFresh({ url: server.url });
    await write(store, create("a"));
    const client = await server.client();
    await client.call("SAVE", []);
    client.disconnect();
  });
  afterEach(async () => {
    await store.close();
    await server.stop();
  });

  const comeBack = async (): Promise<void> => {
    await server.kill();
    await expect(store.getInstance(ref("a"))).rejects.toMatchObject({ failure: "unavailable" });
    await server.start();
  };

  test("never gives the number of a run twice", async () => {
    const forgotten = await started(store, "forgotten");
    await comeBack();
    const other = reopen(store, { url: server.url });
    const lease = { owner: "other", until: at(leaseMs), token: forgotten.lease.token };
    const fresh = await started(other, "other", { lease });
    expect(fresh.lease.runId).not.toBe(forgotten.lease.runId);
    await superseded(store, commit(forgotten.lease, boundary(1, { next: complete() })), at(2));
    expect((await instance(other, "other")).status).toBe("active");
    await other.close();
  });

  test("never gives a token twice: who held a lease it has forgotten is shut out", async () => {
    const forgotten = await claimOne(store, "a", at(0));
    await comeBack();
    expect((await instance(store, "a")).token).toBe(0);
    await superseded(store, commit(forgotten.lease, boundary(1, { steps: [completed(1)] })), at(1));
    const other = reopen(store, { url: server.url });
    const again = await claimOne(other, "a", at(1));
    await superseded(store, commit(forgotten.lease, boundary(1, { steps: [completed(1)] })), at(2));
    await write(other, restart("a"), at(3));
    expect((await instance(other, "a")).token).toBe(again.lease.token + 1);
    await other.close();
  });
});

describe.skipIf(serverProgram === undefined)("a server whose memory is full", () => {
  let server: TestServer;
  let client: RedisClient;
  beforeAll(async () => {
    server = await TestServer.start({ appendonly: "no" });
    client = await server.client();
  });
  afterAll(async () => {
    client?.disconnect();
    await server?.stop();
  });
  afterEach(() => client.call("CONFIG", ["SET", "maxmemory", "0"]));

  const full = { failure: "unavailable", code: "STORE_FULL" };

  test("refuses every verb that writes, wholly, and goes on where it was once there is room", async () => {
    const store = openFresh({ url: server.url });
    const { lease } = await started(store, "a");
    await suspended(store, "b", [awaitingTopic(1, "news", never)], never);
    await write(store, create("c"));
    const other = await started(store, "d", { lease: { owner: "r", until: at(leaseMs) } });
    const before = await contents(namespaceOf(store));
    await client.call("CONFIG", ["SET", "maxmemory", "1"]);
    const everything = boundary(1, {
      steps: [completed(1)],
      logs: [logLine("x")],
      next: complete(),
    });
    const mutations = {
      serviceCalls: [],
      mutate: [(db: RedisCommands) => db.set(db.key("row"), "x").incr(db.key("count"))],
    };
    for (const requests of [
      [create("e"), create("f")],
      [commit(lease, everything, { alongside: [create("child")] })],
      [commit(lease, everything, { mutations })],
      [sendEvent("a", "e1", "x"), publish("p1", "news")],
      [restart("a")],
      [commit(lease, everything), commit(other.lease, everything), create("g")],
    ]) {
      await expect(store.write(requests, at(1))).rejects.toMatchObject(full);
      expect(await contents(namespaceOf(store))).toEqual(before);
    }
    await expect(store.renew([{ lease, begun: [] }], never, at(1))).rejects.toMatchObject(full);
    expect(await contents(namespaceOf(store))).toEqual(before);
    expect((await instance(store, "a")).status).toBe("active");
    await client.call("CONFIG", ["SET", "maxmemory", "0"]);
    expect(await store.write([commit(lease, everything, { mutations })], at(2))).toMatchObject([
      { kind: "committed" },
    ]);
    expect(await stepsOf(store, lease.runId)).toHaveLength(1);
    await store.close();
  });

  test("while it fills up, applies each batch wholly or not at all", async () => {
    const store = openFresh({ url: server.url });
    await store.migrate();
    const used = /used_memory:(\d+)/.exec(String(await client.call("INFO", ["memory"])))?.[1];
    await client.call("CONFIG", ["SET", "maxmemory", String(Number(used) + 1_500_000)]);
    const text = value("x".repeat(2000));
    let applied = 0;
    let refusals = 0;
    for (let n = 0; refusals < 5; n += 1) {
      const batch = Array.from({ length: 20 }, (_unused, m) => create(`i${n} ${m}`, { params: text }));
      const outcome = await store.write(batch, at(0)).then(
        () => "applied",
        (error) => error.code,
      );
      if (outcome === "applied") applied += 1;
      else refusals += 1;
      if (outcome !== "applied") expect(outcome).toBe("STORE_FULL");
    }
    expect(applied).toBeGreaterThan(3);
    const all = await everyPage((query) => store.listInstances(query));
    expect(all).toHaveLength(20 * applied);
    expect((await store.countByStatus()).active).toBe(20 * applied);
    // Removing needs no room.
    for (const { workflowName, instanceId } of all.slice(0, 200))
      await erased(store, { workflowName, instanceId });
    expect(await write(store, create("again"))).toMatchObject({ kind: "created" });
    await store.close();
  });

  async function contents(namespace: string): Promise<unknown> {
    const keys = await keysOf(client, namespace);
    return Promise.all(keys.map(async (key) => [key, await client.call("DUMP", [key])]));
  }
});

describe.skipIf(serverProgram === undefined)("replicas", () => {
  let primary: TestServer;
  let replica: TestServer;
  let client: RedisClient;
  beforeAll(async () => {
    primary = await TestServer.start();
    replica = await TestServer.start({
      replicaof: `127.0.0.1 ${primary.port}`,
      "repl-diskless-sync-delay": "0",
    });
    client = await primary.client();
    const isConnected = async () => /state=online/.test(String(await client.call("INFO", ["replication"])));
    while (!(await isConnected())) await client.call("WAIT", ["1", "20"]);
  });
  afterAll(async () => {
    client?.disconnect();
    await replica?.stop();
    await primary?.stop();
  });

  test("are no place to work on", async () => {
    const store = openFresh({ url: replica.url });
    const readOnly = { code: "STORE_READ_ONLY", message: expect.stringContaining("primary") };
    await expect(store.migrate()).rejects.toMatchObject(readOnly);
    await expect(store.write([create("a")], at(0))).rejects.toMatchObject(readOnly);
    await store.close();
  });

  test("that a primary becomes refuse writes, which may be repeated, and the next call has a new connection", async () => {
    const store = openFresh({ url: primary.url });
    await write(store, create("a"));
    await client.call("REPLICAOF", ["127.0.0.1", "1"]);
    await expect(store.write([create("b")], at(0))).rejects.toMatchObject({
      failure: "unavailable",
      code: "STORE_READ_ONLY",
    });
    await client.call("REPLICAOF", ["NO", "ONE"]);
    expect(await write(store, create("b"))).toMatchObject({ kind: "created" });
    await store.close();
  });

  test("can be waited for; a write that too few have is done, but fails as one that may be lost", async () => {
    const isConnected = async () => /state=online/.test(String(await client.call("INFO", ["replication"])));
    while (!(await isConnected())) await client.call("WAIT", ["1", "20"]);
    const enough = openFresh({ url: primary.url, waitReplicas: { count: 1, timeoutMs: 5000 } });
    expect(await write(enough, create("a"))).toMatchObject({ kind: "created" });
    expect(await enough.claim(claimRequest({ now: at(0) }))).toHaveLength(1);
    const tooFew = reopen(enough, { url: primary.url, waitReplicas: { count: 2, timeoutMs: 50 } });
    await expect(tooFew.write([create("b")], at(0))).rejects.toMatchObject({ failure: "ambiguous" });
    expect((await instance(enough, "b")).status).toBe("active");
    await Promise.all([enough.close(), tooFew.close()]);
  });
});
