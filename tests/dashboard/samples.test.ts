import { afterEach, describe, expect, test } from "vitest";
import { type DashboardApp, hasStore, openDashboardApp } from "../support/dashboard-app.ts";
import { seedEverything, seedHostile, seedLong, seedMany } from "../support/dashboard-seed.ts";

let served: DashboardApp | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});

const stores = ["sqlite", "postgres"] as const;
describe.each(stores.filter(hasStore))("the app that the dashboard is tested with, on %s", (store) => {
  test("has an instance in every status, a dead letter, and waiters on a topic", async () => {
    served = await openDashboardApp({ store });
    await seedEverything(served);
    const { app } = served;
    const counts = await app.counts();
    expect(Object.entries(counts).filter(([, count]) => count === 0)).toEqual([]);
    expect((await app.workflows.failing.at("failing-dead").details()).deadLetter).toBe(true);
    expect((await app.waiters("prices.changed")).items.length).toBe(2);
    served.gates.open("held-active");
    expect(await app.workflows.held.at("held-active").result()).toMatchObject({ status: "complete" });
    expect(served.problems).toEqual([]);
  });
  test("keeps hostile texts, a long run and many instances", async () => {
    served = await openDashboardApp({ store });
    await seedHostile(served);
    await seedLong(served, 1000);
    await seedMany(served, 250);
    expect(await served.app.counts("quick")).toMatchObject({ complete: 250 });
    expect(await served.app.counts("hostile")).toMatchObject({ waiting: 1, complete: 1, errored: 1 });
    expect(served.problems).toEqual([]);
  });
});
