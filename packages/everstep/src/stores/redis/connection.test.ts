import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { instance, started, stepsOf, write } from "../../testing/store-contract/acts.ts";
import {
  at,
  boundary,
  claimRequest,
  commit,
  completed,
  create,
  never,
  ref,
} from "../../testing/store-contract/given.ts";
import type { RedisClient, RedisDriver } from "./driver.ts";
import { redis } from "./index.ts";
import type { RedisStore } from "./redis-store.ts";
import { TestProxy } from "./test-proxy.ts";
import { serverProgram, TestServer } from "./test-server.ts";
import { namespaceOf, openFresh } from "./test-support.ts";

test("without the driver, the package to install is named", async () => {
  const missing = async (): Promise<RedisDriver> => {
    const { loadDriver } = await import("./driver.ts");
    return loadDriver(() => Promise.reject(new Error("Cannot find package 'ioredis'")));
  };
  const store = redis({ url: "redis://127.0.0.1:1", driver: missing });
  await expect(store.migrate()).rejects.toMatchObject({
    code: "DRIVER_MISSING",
    message: expect.stringContaining("npm install ioredis"),
  });
});

test("a server that is not there is unavailable, and closing is still possible", async () => {
  const store = redis("redis://127.0.0.1:1");
  const failure = { failure: "unavailable", code: "STORE_UNAVAILABLE" };
  await expect(store.migrate()).rejects.toMatchObject(failure);
  await expect(store.write([create("a")], at(0))).rejects.toMatchObject(failure);
  await store.close();
  await expect(store.write([create("a")], at(0))).rejects.toMatchObject({ code: "STORE_CLOSED" });
});

describe.skipIf(serverProgram === undefined)("on a server of its own", () => {
  let server: TestServer;
  let client: RedisClient;
  beforeAll(async () => {
    server = await TestServer.start();
    client = await server.client();
  });
  afterAll(async () => {
    client?.disconnect();
    await server?.stop();
  });

  test("nothing is opened before the first call", async () => {
    const store = openFresh({ url: server.url });
    await store.close();
    expect(await connectionsOf(store)).toEqual([]);
  });

  test("connections that were closed while idle are opened again without anybody noticing", async () => {
    const store = await openStore();
    const { lease } = await started(store, "a");
    await store.renew([{ lease, begun: [] }], never, at(1));
    expect(await killConnections(store)).toBe(2);
    expect((await instance(store, "a")).status).toBe("active");
    expect(await store.renew([{ lease, begun: [] }], never, at(1))).toMatchObject([{ kind: "renewed" }]);
    await store.close();
  });

  test("a call whose connection is killed under way fails as one that may have happened; repeating it is harmless", async () => {
    const store = await openStore();
    const { lease } = await started(store, "a");
    const request = commit(lease, boundary(1, { steps: [completed(1)] }));
    await client.call("CLIENT", ["PAUSE", "60000", "WRITE"]);
    const writing = store.write([request], at(1));
    const refused = expect(writing).rejects.toMatchObject({
      failure: "ambiguous",
      code: "STORE_UNAVAILABLE",
    });
    await killConnections(store, 1);
    await refused;
    await client.call("CLIENT", ["UNPAUSE"]);
    expect(await store.write([request], at(2))).toMatchObject([{ kind: "committed" }]);
    expect(await stepsOf(store, lease.runId)).toHaveLength(1);
    await store.close();
  });

  test("scripts that the server has forgotten are sent again", async () => {
    const store = await openStore();
    const { lease } = await started(store, "a");
    for (let n = 1; n <= 3; n += 1) {
      await client.call("SCRIPT", ["FLUSH"]);
      const request = commit(lease, boundary(n, { steps: [completed(n)] }));
      expect(await store.write([request], at(n))).toMatchObject([{ kind: "committed" }]);
    }
    expect(await stepsOf(store, lease.runId)).toHaveLength(3);
    await store.close();
  });

  test("a heartbeat is not held up by what the other connection waits for", async () => {
    const store = await openStore();
    const { lease } = await started(store, "a");
    const proxy = await TestProxy.start(server.url);
    const slow = redis({ url: proxy.url, namespace: namespaceOf(store) });
    await slow.migrate();
    // Only the work connection is open yet: from now on it gets no answers.
    const held = proxy.silence();
    const writing = slow.write([create("b")], at(1)).catch(() => "cut");
    await held;
    proxy.speak();
    proxy.muteThoseOpen();
    expect(await slow.renew([{ lease, begun: [] }], never, at(1))).toMatchObject([{ kind: "renewed" }]);
    await slow.close();
    await writing;
    await proxy.close();
    await store.close();
  });

  test("an answer that does not come in time is an unknown outcome, and the next call has a new connection", async () => {
    const proxy = await TestProxy.start(server.url);
    const store = openFresh({ url: proxy.url, commandTimeoutMs: 300 });
    await store.migrate();
    proxy.silence();
    const late = { failure: "ambiguous", code: "STORE_UNAVAILABLE" };
    await expect(store.write([create("a")], at(0))).rejects.toMatchObject(late);
    proxy.speak();
    expect(await write(store, create("a"))).toMatchObject({ kind: "exists" });
    await store.close();
    await proxy.close();
  });

  test("an answer lost on the way leaves what was done: the same commit is answered as done", async () => {
    const proxy = await TestProxy.start(server.url);
    const store = openFresh({ url: proxy.url });
    await store.migrate();
    const { lease } = await started(store, "a");
    const request = commit(lease, boundary(1, { steps: [completed(1)] }));
    const held = proxy.silence();
    const writing = store.write([request], at(1));
    const refused = expect(writing).rejects.toMatchObject({ failure: "ambiguous" });
    await held;
    proxy.cut();
    await refused;
    proxy.speak();
    expect(await stepsOf(store, lease.runId)).toHaveLength(1);
    expect(await store.write([request], at(2))).toMatchObject([{ kind: "committed" }]);
    expect(await stepsOf(store, lease.runId)).toHaveLength(1);
    await store.close();
    await proxy.close();
  });

  test("a read whose connection breaks may simply be tried again", async () => {
    const proxy = await TestProxy.start(server.url);
    const store = openFresh({ url: proxy.url });
    await store.migrate();
    const held = proxy.silence();
    const reading = expect(store.getInstance(ref("a"))).rejects.toMatchObject({ failure: "unavailable" });
    await held;
    proxy.cut();
    await reading;
    proxy.speak();
    expect(await store.getInstance(ref("a"))).toBeUndefined();
    await store.close();
    await proxy.close();
  });

  test("closing ends calls that wait for an answer, and every connection", async () => {
    const proxy = await TestProxy.start(server.url);
    const store = openFresh({ url: proxy.url });
    await store.migrate();
    await store.release([], at(0));
    const held = proxy.silence();
    const claiming = expect(store.claim(claimRequest({ now: at(0) }))).rejects.toMatchObject({
      code: "STORE_CLOSED",
    });
    await held;
    await store.close();
    await claiming;
    while ((await connectionsOf(store)).length > 0) await client.call("PING", []);
    await proxy.close();
  });

  test("a wrong password is said so, and shown nowhere", async () => {
    await client.call("ACL", ["SETUSER", "worker", "on", ">right-one", "~*", "&*", "+@all"]);
    const wrong = redis(server.url.replace("//", "//worker:hunter2@"));
    const error: Error = await wrong.migrate().then(
      () => new Error("let in"),
      (reason) => reason,
    );
    expect(error).toMatchObject({ failure: "fatal", code: "STORE_FAILED" });
    expect(error.message).toContain("user or password");
    expect(inspect(error, { depth: 10 }) + inspect(wrong, { depth: 10 })).not.toContain("hunter2");
    const right = redis({ url: server.url.replace("//", "//worker:right-one@"), namespace: "right" });
    await right.migrate();
    await Promise.all([wrong.close(), right.close()]);
  });

  test("a user without CONFIG can work, and is told what could not be checked", async () => {
    const rules = ["on", ">word", "~*", "&*", "+@all", "-config"];
    await client.call("ACL", ["SETUSER", "managed", ...rules]);
    const store = openFresh({ url: server.url.replace("//", "//managed:word@") });
    await write(store, create("a"));
    expect(await store.warnings?.()).toMatchObject([{ code: "SETTINGS_UNKNOWN" }]);
    await store.close();
  });

  test("warnings follow the server's settings", async () => {
    const store = await openStore();
    expect(await store.warnings?.()).toEqual([]);
    await client.call("CONFIG", ["SET", "appendfsync", "everysec"]);
    expect(await store.warnings?.()).toMatchObject([{ code: "FSYNC_EVERY_SECOND" }]);
    await client.call("CONFIG", ["SET", "appendfsync", "always"]);
    await store.close();
  });

  test("a server that may evict is refused, unless that is allowed (R-076)", async () => {
    await client.call("CONFIG", ["SET", "maxmemory-policy", "allkeys-lru"]);
    const careful = openFresh({ url: server.url });
    await expect(careful.migrate()).rejects.toMatchObject({ failure: "fatal", code: "STORE_UNSAFE" });
    await expect(careful.write([create("a")], at(0))).rejects.toMatchObject({ code: "STORE_UNSAFE" });
    const careless = openFresh({ url: server.url, allowEviction: true });
    await write(careless, create("a"));
    expect(await careless.warnings?.()).toMatchObject([{ code: "EVICTION" }]);
    await client.call("CONFIG", ["SET", "maxmemory-policy", "noeviction"]);
    await Promise.all([careful.close(), careless.close()]);
  });

  async function openStore(): Promise<RedisStore> {
    const store = openFresh({ url: server.url });
    await store.migrate();
    return store;
  }

  /** Ids of the connections of a store. */
  async function connectionsOf(store: RedisStore): Promise<string[]> {
    const text = String(await client.call("CLIENT", ["LIST"]));
    const lines = text.split("\n").filter((line) => line.includes(`name=everstep:${namespaceOf(store)}:`));
    return lines.map((line) => /\bid=(\d+)/.exec(line)?.[1] as string);
  }

  async function killConnections(store: RedisStore, wanted = 0): Promise<number> {
    let ids = await connectionsOf(store);
    while (ids.length < wanted) ids = await connectionsOf(store);
    for (const id of ids) await client.call("CLIENT", ["KILL", "ID", id]);
    return ids.length;
  }
});
