import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { claimIds, started } from "../../testing/store-contract/acts.ts";
import {
  abandon,
  at,
  boundary,
  commit,
  completed,
  create,
  leaseMs,
  pause,
  restart,
  resume,
  workflow,
} from "../../testing/store-contract/given.ts";
import type { RedisClient } from "./driver.ts";
import type { RedisStore } from "./redis-store.ts";
import { namespaceOf, openClient, openFresh, redisUrl, removeTestKeys } from "./test-support.ts";

describe.skipIf(redisUrl === undefined)("the sets that lead to runs", () => {
  let client: RedisClient;
  let store: RedisStore;
  beforeAll(async () => {
    client = await openClient();
  });
  afterAll(async () => {
    await removeTestKeys(client);
    client.disconnect();
  });
  beforeEach(() => {
    store = openFresh();
  });
  afterEach(() => store.close());

  test("have what was written before a request that fails on damaged data", async () => {
    const { lease } = await started(store, "bad");
    await client.call("SET", [`{${namespaceOf(store)}}:steps:${lease.runId}`, "theirs"]);
    const batch = [create("before"), commit(lease, boundary(1, { steps: [completed(1)] })), create("after")];
    // Only "ambiguous" leaves open that something was applied.
    await expect(store.write(batch, at(1))).rejects.toMatchObject({ failure: "ambiguous" });
    expect(await claimIds(store, at(1))).toEqual(["before"]);
    expect(await store.countByStatus()).toMatchObject({ active: 2 });
  });

  test("have what could be written when one of them is damaged", async () => {
    await client.call("SET", [`{${namespaceOf(store)}}:owner:dead`, "theirs"]);
    const lease = { owner: "dead", until: at(leaseMs) };
    const batch = [create("a", { lease }), create("b")];
    await expect(store.write(batch, at(0))).rejects.toMatchObject({ failure: "fatal" });
    expect(await store.countByStatus()).toMatchObject({ active: 2 });
    await client.call("DEL", [`{${namespaceOf(store)}}:owner:dead`]);
    expect(await claimIds(store, at(leaseMs))).toEqual(["a", "b"]);
  });

  test("hold a run where the last request of a batch has put it", async () => {
    const batch = [create("a"), pause("a"), resume("a"), pause("a"), restart("a"), pause("a"), resume("a")];
    await store.write(batch, at(0));
    const counts = await store.countByStatus();
    expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(1);
    expect(counts.active).toBe(1);
    const lane = (name: string): Promise<unknown> =>
      client.call("ZCARD", [`{${namespaceOf(store)}}:due:${name}:${workflow}`]);
    expect(await Promise.all(["starting", "resuming", "held", "heldPaused"].map(lane))).toEqual([0, 1, 0, 0]);
    expect(await claimIds(store, at(1))).toEqual(["a"]);
  });

  test("are read by a request that needs them as the requests before it left them", async () => {
    const lease = { owner: "dead", until: at(leaseMs) };
    const outcomes = await store.write([create("a", { lease }), abandon("dead")], at(0));
    expect(outcomes[1]).toEqual({ kind: "abandoned", runs: 1 });
    expect(await claimIds(store, at(0))).toEqual(["a"]);
  });
});
