/** R-097, SEC-8: what is stored is shown as text, in every tab, whatever it looks like. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { shot } from "../support/browser.ts";
import { seedHostile } from "../support/dashboard-seed.ts";
import { hostileTexts } from "../support/hostile-texts.ts";
import { onEachStore } from "../support/on-each-store.ts";

const ids = ["hostile-waiting", "hostile-complete", "hostile-errored"];
const tabs = ["timeline", "timeline&step=0", "events", "logs", "data", "runs&run=1&step=3"];

onEachStore("hostile texts of an instance", { seed: seedHostile }, (stage) => {
  test.each(ids)("none of them runs, and none of them leads away: %s", async (id) => {
    const page = await stage.openPage();
    await page.addInitScript(
      "globalThis.breaches = []; addEventListener('securitypolicyviolation', (e) => breaches.push(e.blockedURI))",
    );
    for (const tab of tabs) {
      await page.goto(`${stage.served.dashboardUrl}instances/hostile/${id}?tab=${tab}`);
      await page.locator(".why p").waitFor();
      await page.waitForFunction("!document.querySelector('main [aria-busy=true]')");
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
});

/** All that is folded, and a hand over everything: some of them wait for that. */
async function openEverything(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    for (let round = 0; round < 4; round++) {
      for (const fold of document.querySelectorAll("main button[aria-expanded=false]")) fold.click();
      await new Promise(requestAnimationFrame);
    }
    for (const element of document.querySelectorAll("main *")) {
      element.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
    }
    await new Promise(requestAnimationFrame);
  })()`);
}

/** Elements that the page itself never makes, and links to anywhere but itself. */
function foreignElements(page: Page): Promise<string[]> {
  return page.evaluate(`[
    ...document.querySelectorAll("#root script, #root img, #root iframe, #root base, #root link, #root meta, #root style, #root object, [onload], [onerror], [onmouseover], [onfocus], [srcdoc]"),
    ...[...document.querySelectorAll("#root a")].filter((link) => link.origin !== location.origin),
  ].map((element) => element.outerHTML.slice(0, 200))`);
}
