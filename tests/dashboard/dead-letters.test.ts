import { expect, test } from "vitest";
import { axe, shot } from "../support/browser.ts";
import type { DashboardApp } from "../support/dashboard-app.ts";
import { reach } from "../support/dashboard-seed.ts";
import { onEachStore } from "../support/on-each-store.ts";

async function seed({ app }: DashboardApp): Promise<void> {
  const made = ["dead-1", "dead-2", "dead-3"].map((id) =>
    app.workflows.failing.create({ id, params: { retries: 0 } }),
  );
  for (const instance of await Promise.all(made)) await reach(instance, "errored");
}

onEachStore("dead letters", { isOfThePage: true, seed }, (stage) => {
  const { openPage, store } = stage;

  test("are shown with what failed, and one is retried: its step is tried once more", async () => {
    const page = await openPage();
    await page.goto(`${stage.served.dashboardUrl}dead-letters`);
    const letter = page.getByRole("listitem").filter({ hasText: "dead-2" });
    await expect.poll(() => letter.innerText()).toContain("Error: The service is out of reach (attempt 1).");
    expect(await axe(page)).toEqual([]);
    await shot(page, `dead-letters-${store}`);
    await letter.getByRole("button", { name: "Retry failed step" }).click();
    await page.getByText("1 instance was given another attempt.").waitFor();
    await expect.poll(() => letter.innerText()).toContain("(attempt 2)");
  });

  test("are retried all at once after a question, and the summary says how many", async () => {
    const page = await openPage();
    await page.goto(`${stage.served.dashboardUrl}dead-letters`);
    await page.getByRole("button", { name: "Retry all failed steps" }).click();
    await page.getByText("Give all 3 another chance?").waitFor();
    await page.getByRole("button", { name: "Retry", exact: true }).first().click();
    await page.getByText("3 instances were given another attempt.").waitFor();
    await page.getByRole("button", { name: "Dismiss" }).click();
    expect(await page.getByRole("region", { name: "Summary" }).count()).toBe(0);
  });

  test("are kept when the question is answered with no", async () => {
    const page = await openPage();
    await page.goto(`${stage.served.dashboardUrl}dead-letters`);
    await page.getByRole("button", { name: "Retry all failed steps" }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Retry all failed steps" }).waitFor();
    expect(await page.getByRole("region", { name: "Summary" }).count()).toBe(0);
  });

  test("of one workflow are in an address of their own", async () => {
    const page = await openPage({ colorScheme: "dark", width: 390, height: 740 });
    await page.goto(`${stage.served.dashboardUrl}dead-letters?workflow=order`);
    await page.getByText("No dead letters").waitFor();
    await page.getByLabel("Workflow").selectOption("failing");
    await expect.poll(() => page.getByRole("listitem").count()).toBe(3);
    expect(new URL(page.url()).search).toBe("?workflow=failing");
    expect(await axe(page)).toEqual([]);
    // On a phone the error has the whole row, and the button is below it.
    const text = await page.locator(".letter-text").first().boundingBox();
    const button = await page.locator(".letter > button").first().boundingBox();
    expect(button?.y).toBeGreaterThanOrEqual((text?.y ?? 0) + (text?.height ?? 0));
    await shot(page, `dead-letters-${store}-dark-390`);
  });
});
