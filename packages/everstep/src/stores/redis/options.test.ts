import { inspect } from "node:util";
import { Cluster } from "ioredis";
import { expect, test } from "vitest";
import { redis } from "./index.ts";
import { type RedisOptions, readOptions } from "./options.ts";

const url = "redis://localhost:6379";

test("a url is enough", () => {
  expect(readOptions(url)).toMatchObject({
    url,
    namespace: "everstep",
    clock: "store",
    commandTimeoutMs: 15_000,
    allowEviction: false,
    waitReplicas: null,
    client: {},
  });
});

test.each([
  ["no url", {}, "needs a url"],
  ["another protocol", { url: "http://localhost" }, "needs a url"],
  ["a host alone", { url: "localhost:6379" }, "needs a url"],
  ["a cluster that is none", { cluster: { nodes: [] } }, "Cluster of ioredis"],
  ["a cluster without nodes", { cluster: new Cluster([], { lazyConnect: true }) }, "at least one node"],
  ["a url and a cluster", { url, cluster: new Cluster([7000], { lazyConnect: true }) }, "not both"],
  ["an empty namespace", { url, namespace: "" }, "namespace"],
  ["a namespace with braces", { url, namespace: "a}b" }, "namespace"],
  ["a namespace with spaces", { url, namespace: "a b" }, "namespace"],
  ["a namespace that is too long", { url, namespace: "n".repeat(65) }, "namespace"],
  ["another clock", { url, clock: "mine" }, "clock"],
  ["a timeout of 0", { url, commandTimeoutMs: 0 }, "commandTimeoutMs"],
  ["half a millisecond", { url, commandTimeoutMs: 0.5 }, "commandTimeoutMs"],
  ["eviction of another kind", { url, allowEviction: "yes" }, "allowEviction"],
  ["no replica to wait for", { url, waitReplicas: { count: 0, timeoutMs: 5 } }, "waitReplicas.count"],
  ["replicas for ever", { url, waitReplicas: { count: 1, timeoutMs: 0 } }, "waitReplicas.timeoutMs"],
  [
    "replicas for longer than a command may take",
    { url, commandTimeoutMs: 100, waitReplicas: { count: 1, timeoutMs: 100 } },
    "below commandTimeoutMs",
  ],
  ["a prefix of the driver", { url, client: { keyPrefix: "x" } }, "keyPrefix"],
  [
    "a retry of the driver",
    { url, client: { maxRetriesPerRequest: 3, retryStrategy: () => 1 } },
    "retryStrategy",
  ],
])("%s is refused with a sentence that names it", (_what, options, part) => {
  expect(() => redis(options as RedisOptions)).toThrow(
    expect.objectContaining({ code: "INVALID_ARGUMENT", message: expect.stringContaining(part) }),
  );
});

test("with the caller's clock the store offers none of its own", () => {
  expect(redis(url).serverTime).toBeDefined();
  expect(redis({ url, clock: "caller" }).serverTime).toBeUndefined();
});

test("a password is in no message and in nothing that is printed", () => {
  const secret = "redis://user:hunter2@localhost:6379";
  expect(inspect(redis(secret), { depth: 10, showHidden: true })).not.toContain("hunter2");
  expect(() => redis({ url: secret.replace("redis:", "http:") })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining("hunter2") }),
  );
});

test("a cluster is its nodes and options, without those that the store sets itself", () => {
  const nodes = [
    7000,
    "redis://user:secret@one.example:7001",
    "two.example:7002",
    { host: "::1", port: 7003 },
  ];
  const redisOptions = { password: "secret", maxRetriesPerRequest: 7, keyPrefix: "x", protocol: 3 } as const;
  const natMap = { "10.0.0.1:6379": { host: "outside.example", port: 9000 } };
  const cluster = new Cluster(nodes, { lazyConnect: true, redisOptions, natMap });
  for (const settings of [
    readOptions(cluster),
    readOptions({ cluster, namespace: "everstep", client: { family: 6 } }),
  ]) {
    expect(settings.urls).toEqual([
      "redis://127.0.0.1:7000",
      "redis://user:secret@one.example:7001",
      "redis://two.example:7002",
      "redis://[::1]:7003",
    ]);
    expect(settings.client).toMatchObject({ password: "secret" });
    expect(Object.keys(settings.client)).not.toContain("keyPrefix");
    expect(Object.keys(settings.client)).not.toContain("maxRetriesPerRequest");
    expect(Object.keys(settings.client)).not.toContain("protocol");
    expect(settings.cluster?.mapped("10.0.0.1:6379")).toEqual({ host: "outside.example", port: 9000 });
    expect(settings.cluster?.mapped("10.0.0.2:6379")).toBeUndefined();
  }
});
