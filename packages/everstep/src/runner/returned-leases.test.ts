import { describe, expect, test } from "vitest";
import { planCreate } from "../engine/lifecycle.ts";
import type { CreateRequest } from "../model/request.ts";
import { memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { createFaultyStore } from "../testing/faulty-store.ts";
import { ReturnedLeases } from "./returned-leases.ts";

const leaseMs = 30_000;

function planned(now: number): CreateRequest {
  const ref = { workflowName: "w", instanceId: "a" };
  return planCreate(ref, { params: { json: "null", marks: null } }, now);
}

function scene() {
  const runtime = createFakeRuntime();
  const store = createFaultyStore(memory());
  const returned = new ReturnedLeases({ store, runtime, owner: "me", leaseMs });
  const lease = { runId: 1, token: 7, owner: "me", expiresAt: runtime.now() + leaseMs };
  return { runtime, store, returned, lease };
}

describe("leases that are given back", () => {
  test("keep nobody waiting for longer than one failed try, and are offered again until the store takes them", async () => {
    const { runtime, store, returned, lease } = scene();
    store.fail("release", "unavailable", { times: 3 });
    await returned.give([lease]);
    expect(store.count("release")).toBe(1);
    await runtime.advance("20 seconds");
    expect(store.count("release")).toBe(4);
    await runtime.advance("20 seconds");
    expect(store.count("release")).toBe(4);
  });

  test("are offered together, those of a lost answer by their token", async () => {
    const { runtime, store, returned, lease } = scene();
    store.fail("release", "unavailable");
    store.fail("abandon", "unavailable", { times: 2 });
    await returned.give([lease]);
    await returned.giveUnheard(8);
    await returned.giveUnheard(9);
    await runtime.advance("20 seconds");
    // The store has none of theirs: they may come yet, so it is asked three times.
    expect([store.count("release"), store.count("abandon")]).toEqual([2, 2 + 3]);
  });

  test("of an answer that was lost are asked for again: the claim may arrive behind the request that gives them back", async () => {
    const { runtime, store, returned } = scene();
    await store.migrate();
    await returned.giveUnheard(8);
    await store.write([planned(runtime.now())], runtime.now());
    await store.claim({
      owner: "me",
      token: 8,
      workflows: [{ name: "w", concurrency: null }],
      limit: 1,
      now: runtime.now(),
      leaseUntil: runtime.now() + leaseMs,
    });
    const ref = { workflowName: "w", instanceId: "a" };
    expect(await store.getInstance(ref)).toMatchObject({ executing: true });
    await runtime.advance("2 seconds");
    expect(await store.getInstance(ref)).toMatchObject({ executing: false, crashCount: 0 });
    await runtime.advance("1 minute");
    expect(store.count("abandon")).toBeLessThanOrEqual(3);
  });

  test("are waited for by a stop that comes while they are under way", async () => {
    const { store, returned, lease } = scene();
    const stop = store.stopBefore("release");
    void returned.give([lease]);
    const stopping = returned.stop();
    await stop.reached;
    await stop.fail("unavailable");
    await stopping;
    expect(store.count("release")).toBe(2);
  });

  test("are forgotten once they have run out: a store that stays away is not asked for ever", async () => {
    const { runtime, store, returned, lease } = scene();
    store.fail("release", "unavailable", { times: 1000 });
    await returned.give([lease]);
    await runtime.advance("40 seconds");
    const asked = store.count("release");
    await runtime.advance("10 minutes");
    expect(store.count("release")).toBe(asked);
  });

  test("are tried once more when the runner stops, and nothing is left waiting", async () => {
    const { runtime, store, returned, lease } = scene();
    store.fail("release", "unavailable", { times: 1000 });
    await returned.give([lease]);
    await returned.stop();
    expect(store.count("release")).toBe(2);
    await runtime.advance("1 minute");
    expect(store.count("release")).toBe(2);
  });
});
