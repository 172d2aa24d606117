import { expect, test } from "vitest";
import { confirmation } from "../../../packages/everstep/src/runner/unfit.ts";
import { instancesOf, type World } from "../support/world.ts";

export function why(world: () => World): void {
  const reasonOf = async (path: string) => (await world().get(`${path}/why`)).body;

  test.each([
    ["order", {}, { reason: "waiting-for-event", stepKey: "approval", status: "waiting" }],
    ["sleeper", {}, { reason: "sleeping", stepKey: "nap" }],
    ["listener", { topic: "why" }, { reason: "waiting-for-topic", stepKey: "news" }],
    ["flaky", {}, { reason: "waiting-for-retry", stepKey: "call" }],
    ["quick", {}, { reason: "complete", advice: null, status: "complete" }],
    ["doomed", {}, { reason: "errored", status: "errored" }],
  ] as const)("why says of %s %j: %j", async (name, params, expected) => {
    expect(await reasonOf(await world().made(name, params))).toMatchObject(expected);
  });

  test("why says until when it waits by itself", async () => {
    const { until, answer } = await reasonOf(await world().made("sleeper"));
    expect([until, answer]).toEqual([
      new Date(world().runtime.now() + 3_600_000).toISOString(),
      'Step "nap" sleeps for 60 minutes more.',
    ]);
  });

  test("why names who stopped it: a person who paused or terminated it", async () => {
    const path = await world().made("order");
    await world().post(`${path}/pause`);
    expect(await reasonOf(path)).toMatchObject({ reason: "paused", advice: "Resume it." });
    await world().post(`${path}/terminate`, { reason: "no stock" });
    expect(await reasonOf(path)).toMatchObject({
      reason: "terminated",
      answer: expect.stringContaining("no stock"),
    });
  });

  test("why tells an instance that is not due yet from one that is, and from one that nobody takes", async () => {
    const id = world().id("later");
    const path = `${instancesOf("order")}/${id}`;
    const startAt = world().runtime.now() + 60_000;
    await world().post(instancesOf("order"), { id, startAt });
    expect(await reasonOf(path)).toMatchObject({
      reason: "not-started-yet",
      answer: `It starts in 60 seconds, at ${new Date(startAt).toISOString()}.`,
      advice: "To start it now, pause it and resume it.",
    });
    await world().runtime.advance("1 minute");
    expect(await reasonOf(path)).toMatchObject({ reason: "due-now" });
    await world().runtime.advance("20 seconds");
    expect(await reasonOf(path)).toMatchObject({ reason: "no-runner" });
    const capped = `${instancesOf("capped")}/${id}`;
    await world().post(instancesOf("capped"), { id });
    await world().runtime.advance("20 seconds");
    expect(await reasonOf(capped)).toMatchObject({ reason: "queued" });
    await world().run();
  });

  test("why tells work in progress from work whose process died, again and again, until it is given up", async () => {
    const { store, runtime } = world();
    const id = world().id("fragile");
    const path = `${instancesOf("fragile")}/${id}`;
    await world().post(instancesOf("fragile"), { id });
    let claims = 0;
    const take = async () => {
      const [claim] = await store.claim({
        owner: "elsewhere",
        token: ++claims,
        workflows: [{ name: "fragile", concurrency: null }],
        limit: 1,
        now: runtime.now(),
        leaseUntil: runtime.now() + 30_000,
      });
      await store.write([confirmation(claim!)], runtime.now());
      return claim!;
    };
    for (let deaths = 0; deaths < 2; deaths++) {
      await take();
      expect(await reasonOf(path)).toMatchObject({ reason: "executing", status: "active" });
      await runtime.advance("40 seconds");
      expect(await reasonOf(path)).toMatchObject({ reason: "lease-ran-out" });
    }
    const { lease } = await take();
    await store.release([{ ...lease, retryAt: runtime.now() + 60_000 }], runtime.now());
    expect(await reasonOf(path)).toMatchObject({ reason: "crash-backoff" });
    await world().pass("2 minutes");
    expect((await world().get(path)).body).toMatchObject({
      details: { status: "errored", error: { code: "CRASH_LOOP" } },
      meta: { deadLetter: true },
    });
  });
}
