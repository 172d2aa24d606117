import { afterAll, beforeAll, expect, test } from "vitest";
import { describeBrowser, shot } from "../support/browser.ts";
import { type DashboardApp, openDashboardApp } from "../support/dashboard-app.ts";

describeBrowser("the dashboard", ({ openPage }) => {
  let served: DashboardApp;
  beforeAll(async () => {
    served = await openDashboardApp();
  });
  afterAll(() => served?.close());

  test("loads in a real browser without a complaint", async () => {
    const page = await openPage();
    await page.goto(served.dashboardUrl);
    await page.getByRole("link", { name: "Instances" }).first().waitFor();
    expect(await page.title()).toContain("everstep");
    await shot(page, "smoke");
  });
});
