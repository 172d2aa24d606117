import { expect, test } from "vitest";
import type { World } from "../support/world.ts";

/** An answer may be lost on its way: who repeats a request under the same key does nothing twice. */
export function repeats(world: () => World): void {
  const key = () => ({ "idempotency-key": world().id("key") });

  test("a restart that is repeated under its key makes one new run, also when the run has moved on", async () => {
    const path = await world().made("order");
    const headers = key();
    const restart = () => world().post(`${path}/restart`, {}, headers);
    expect(await Promise.all([restart(), restart(), restart()])).toMatchObject(
      Array(3).fill({ status: 200 }),
    );
    await world().run();
    expect((await restart()).body).toEqual({ ok: true });
    expect((await world().get(path)).body).toMatchObject({
      details: { status: "waiting" },
      meta: { runNumber: 2 },
    });
    await world().post(`${path}/restart`, {}, key());
    expect((await world().get(path)).body.meta.runNumber).toBe(3);
  });

  test("a restart from a step may be repeated although the new run has not come to that step", async () => {
    const path = await world().made("order");
    const headers = key();
    const rewind = () => world().post(`${path}/rewind`, { step: "approval" }, headers);
    expect([(await rewind()).status, (await rewind()).status]).toEqual([200, 200]);
    expect((await world().get(path)).body.meta.runNumber).toBe(2);
  });

  test("a repeat is answered as the first was, whatever has become of the instance", async () => {
    const path = await world().made("flaky");
    await world().pass("1 minute");
    const [retry, terminate] = [key(), key()];
    expect((await world().post(`${path}/retry-failed-step`, {}, retry)).status).toBe(200);
    expect((await world().post(`${path}/retry-failed-step`, {}, retry)).status).toBe(200);
    expect((await world().post(`${path}/terminate`, {}, terminate)).status).toBe(200);
    expect((await world().post(`${path}/terminate`, {}, terminate)).status).toBe(200);
    await world().post(`${path}/restart`);
    await world().post(`${path}/terminate`, {}, terminate);
    expect((await world().get(path)).body.details.status).toBe("active");
  });

  test("a pause that is repeated after somebody resumed pauses nothing", async () => {
    const path = await world().made("order");
    const [pause, resume] = [key(), key()];
    await world().post(`${path}/pause`, {}, pause);
    await world().post(`${path}/resume`, {}, resume);
    await world().post(`${path}/pause`, {}, pause);
    expect((await world().get(path)).body.details.status).toBe("active");
    await world().post(`${path}/pause`);
    await world().post(`${path}/resume`, {}, resume);
    expect((await world().get(path)).body.details.status).toBe("paused");
  });

  test("a key that was used for one thing does not keep another from being done", async () => {
    const headers = key();
    const path = await world().made("sleeper");
    await world().post(`${path}/pause`, {}, headers);
    await world().post(`${path}/resume`, {}, headers);
    expect((await world().get(path)).body.details.status).toBe("active");
    await world().run();
    const other = await world().made("sleeper");
    for (const each of [path, other]) {
      await world().post(`${each}/skip-sleep`, {}, headers);
      await world().run();
      await world().post(`${each}/skip-sleep`, {}, headers);
      await world().run();
      expect((await world().get(each)).body.meta.currentStep, each).toMatchObject({ name: "second nap" });
    }
  });

  test("a fork that is repeated under its key is the same instance", async () => {
    const path = await world().made("order");
    const headers = key();
    const fork = async (given = headers) => (await world().post(`${path}/fork`, {}, given)).body.id;
    const first = await fork();
    expect([await fork(), await fork(key())]).toEqual([first, expect.not.stringMatching(first)]);
  });

  test("restart-or-create under its key restarts once", async () => {
    const path = await world().made("quick");
    const headers = key();
    const again = async () => (await world().post(`${path}/restart-or-create`, {}, headers)).body.outcome;
    expect([await again(), await again()]).toEqual(["restarted", "restarted"]);
    expect((await world().get(path)).body.meta.runNumber).toBe(2);
  });

  test("a creation and an event may be repeated under their ids", async () => {
    const path = await world().made("order");
    const event = { type: "noted", idempotencyKey: world().id("event") };
    expect((await world().post(`${path}/events`, event)).status).toBe(200);
    expect((await world().post(`${path}/events`, event)).status).toBe(200);
    expect((await world().get(`${path}/history`)).body.events).toHaveLength(1);
  });

  test.each(["", "a b", "x".repeat(201), "café"])("%j is no key", async (given) => {
    const path = await world().made("quick");
    const headers = { "idempotency-key": Buffer.from(given).toString("latin1") };
    const answer = await world().post(`${path}/restart`, {}, headers);
    expect(answer).toMatchObject({ status: 400, code: "INVALID_ARGUMENT" });
  });
}
