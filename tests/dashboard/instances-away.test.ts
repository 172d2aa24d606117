import { expect, test } from "vitest";
import { axe, shot } from "../support/browser.ts";
import { onEachStore } from "../support/on-each-store.ts";

onEachStore("an app without instances", { isOfThePage: true }, (stage) => {
  const { openPage, store } = stage;

  test("says that there are none, and where to start one", async () => {
    const page = await openPage();
    await page.goto(`${stage.served.dashboardUrl}instances`);
    await page.getByText("There are no instances yet.").waitFor();
    expect(await axe(page)).toEqual([]);
    await shot(page, `instances-none-${store}`);
    await page.getByRole("link", { name: "Choose a workflow" }).click();
    await page.getByRole("heading", { name: "Workflows" }).waitFor();
  });

  test("a workflow that is not there is refused in words", async () => {
    const page = await openPage({ mayComplain: [/status of 404/] });
    await page.goto(`${stage.served.dashboardUrl}instances?workflow=nobody`);
    await expect.poll(() => page.getByRole("alert").first().innerText()).toContain("WORKFLOW_NOT_FOUND");
  });

  test("when the service is gone the list stays and says so, and goes on once it is back", async () => {
    const page = await openPage({ mayComplain: [/ERR_|Failed to load/] });
    await page.goto(`${stage.served.dashboardUrl}instances`);
    await page.getByText("There are no instances yet.").waitFor();
    await stage.served.stopServing();
    await page.getByText("The connection was lost.").waitFor();
    await shot(page, `instances-away-${store}`);
    await stage.served.app.workflows.quick.create({ id: "meanwhile" });
    await stage.served.serveAgain();
    await page.locator('[data-key="quick meanwhile"]').waitFor();
    await expect.poll(() => page.getByText("The connection was lost.").count()).toBe(0);
  });
});
