import { expect, test } from "vitest";
import { instancesOf, type World } from "../support/world.ts";

export function service(world: () => World): void {
  test("168 a tick takes the turns that are due and says how many, no more than asked for", async () => {
    await world().run();
    const ids = [world().id("ticked"), world().id("ticked"), world().id("ticked")];
    await world().post(`${instancesOf("quick")}/batch`, { instances: ids.map((id) => ({ id })) });
    expect((await world().post("/_runner/tick", { maxInstances: 2 })).body).toEqual({ processed: 2 });
    expect((await world().ask("POST", "/_runner/tick")).body).toEqual({ processed: 1 });
    expect((await world().post("/_runner/tick", { maxSteps: 5 })).body).toEqual({ processed: 0 });
  });

  test("168 ticks at the same time take every turn once", async () => {
    const instances = Array.from({ length: 8 }, () => ({ id: world().id("once") }));
    await world().post(`${instancesOf("order")}/batch`, { instances });
    const tick = () => world().post("/_runner/tick", { maxInstances: 5 });
    const ticks = await Promise.all([tick(), tick(), tick(), tick()]);
    expect(ticks.reduce((sum, { body }) => sum + body.processed, 0)).toBe(8);
    for (const { id } of instances) {
      const { steps } = (await world().get(`${instancesOf("order")}/${id}/history`)).body;
      expect(steps[0]).toMatchObject({ name: "charge", attempts: 1, starts: 1 });
    }
  });

  test.each([{ maxInstances: 0 }, { maxSteps: -1 }, { maxInstances: 1.5 }, { steps: 1 }])(
    "168 a tick of %j is refused",
    async (body) => {
      expect(await world().post("/_runner/tick", body)).toMatchObject({
        status: 400,
        code: "INVALID_ARGUMENT",
      });
    },
  );

  test("the store is audited, page by page, and found sound", async () => {
    await world().made("order");
    await world().made("quick");
    let after = "";
    let checked = 0;
    for (;;) {
      const { body } = await world().get(`/verify?limit=50&history=true&doubts=true${after}`);
      expect(body).toMatchObject({ ok: true, violations: [], unreadable: [] });
      checked += body.checked;
      if (body.complete) break;
      after = `&after=${body.after}`;
    }
    expect(checked).toBeGreaterThan(1);
    const { body } = await world().get("/verify?workflowName=quick&sample=1");
    expect(body).toMatchObject({ ok: true, complete: true });
  });

  test.each([
    ["limit=10001", "INVALID_ARGUMENT"],
    ["sample=0", "INVALID_ARGUMENT"],
    ["sample=1.5", "INVALID_ARGUMENT"],
    ["after=x", "INVALID_CURSOR"],
  ])("an audit with %s is refused with %s", async (query, code) => {
    expect(await world().get(`/verify?${query}`)).toMatchObject({ status: 400, code });
  });

  test("the service says that it is well, in general to everybody and in detail to those who may know", async () => {
    expect((await world().get("/livez")).body).toEqual({ ok: true });
    expect((await world().get("/readyz")).body).toEqual({ ok: true });
    const anything = Array.from({ length: 1000 }, (_, n) => n).join("&");
    for (const probe of ["/livez", "/readyz"]) {
      expect((await world().get(`${probe}?${anything}`)).body).toEqual({ ok: true });
    }
    expect((await world().get("/healthz")).body).toEqual({
      ok: true,
      store: { reachable: true, migrationsPending: 0, warnings: expect.any(Array) },
      runner: { running: false },
      workflows: expect.arrayContaining(["order"]),
    });
  });
}
