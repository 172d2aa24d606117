/** What is stored is shown as text, in every tab, whatever it looks like. */
import { expect, test } from "vitest";
import { shot } from "../support/browser.ts";
import type { DashboardApp } from "../support/dashboard-app.ts";
import { reach, seedHostile } from "../support/dashboard-seed.ts";
import { foreignElements, openEverything } from "../support/hostile-page.ts";
import { hostileTexts } from "../support/hostile-texts.ts";
import { onEachStore } from "../support/on-each-store.ts";

const ids = ["hostile-waiting", "hostile-complete", "hostile-errored"];
const tabs = ["timeline", "timeline&step=0", "events", "logs", "data", "runs&run=1&step=3"];

onEachStore(
  "R-097, SEC-8 hostile texts of an instance",
  { isOfThePage: true, seed: seedHostile },
  (stage) => {
    test.each(ids)("none of them runs, and none of them leads away: %s", async (id) => {
      const page = await stage.openPage();
      await page.addInitScript(
        "globalThis.breaches = []; addEventListener('securitypolicyviolation', (e) => breaches.push(e.blockedURI))",
      );
      for (const tab of tabs) {
        await page.goto(`${stage.served.dashboardUrl}instances/hostile/${id}?tab=${tab}`);
        await page.locator(".instance-facts").waitFor();
        await expect.poll(() => page.locator("main [aria-busy=true]").count()).toBe(0);
        await openEverything(page);
        expect(await page.evaluate("breaches"), tab).toEqual([]);
        expect(await foreignElements(page), tab).toEqual([]);
        expect(page.url(), tab).toContain(id);
      }
      await shot(page, `instance-${id}-${stage.store}`, { fullPage: true });
    });

    test("they are there to be read: as text, whole", async () => {
      const page = await stage.openPage();
      await page.goto(`${stage.served.dashboardUrl}instances/hostile/hostile-errored?tab=logs`);
      const lines = page.locator(".log-line .message");
      await expect.poll(() => lines.count()).toBeGreaterThanOrEqual(hostileTexts.length);
      const shown = await lines.allTextContents();
      for (const text of hostileTexts.slice(0, 20)) expect(shown).toContain(text);
      await page.goto(`${stage.served.dashboardUrl}instances/hostile/hostile-errored?tab=data`);
      await expect.poll(() => page.locator(".error-text pre").textContent()).toContain(hostileTexts[0]);
    });

    test("an address that names no instance is answered as such", async () => {
      const page = await stage.openPage({ mayComplain: [/status of 40[04]/] });
      for (const id of ["<script>alert(1)</script>", "../../etc", "javascript:alert(1)", "%00", "a%2fb"]) {
        const path = `instances/hostile/${encodeURIComponent(id)}?step=-1&run=%3Cb%3E`;
        await page.goto(`${stage.served.dashboardUrl}${path}`);
        await page
          .getByText(/There is no such instance|There is nothing at this address/)
          .first()
          .waitFor();
        expect(await foreignElements(page), id).toEqual([]);
      }
    });
  },
);

async function seedLists(served: DashboardApp): Promise<void> {
  await seedHostile(served);
  const params = { retries: 0, message: hostileTexts.join("\n") };
  await reach(await served.app.workflows.failing.create({ id: "hostile-dead", params }), "errored");
}

onEachStore("R-097, SEC-8 hostile texts in lists", { isOfThePage: true, seed: seedLists }, (stage) => {
  test.each(["", "instances", "instances?status=errored", "dead-letters", "workflows", "workflows/hostile"])(
    "none of them runs, and none of them leads away: /%s",
    async (path) => {
      const page = await stage.openPage();
      await page.goto(`${stage.served.dashboardUrl}${path}`);
      await page
        .locator("main")
        .getByText(/hostile/)
        .filter({ visible: true })
        .first()
        .waitFor();
      await openEverything(page);
      expect(await foreignElements(page)).toEqual([]);
    },
  );

  test.each(hostileTexts.slice(0, 6))("nor does an address that has one in it: %s", async (text) => {
    const page = await stage.openPage({ mayComplain: [/status of 40[04]/] });
    const word = encodeURIComponent(text);
    for (const path of [
      `instances?workflow=${word}&id=${word}&status=${word}`,
      `topics?topic=${word}`,
      `?range=${word}`,
    ]) {
      await page.goto(`${stage.served.dashboardUrl}${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect(await foreignElements(page)).toEqual([]);
    }
  });
});
