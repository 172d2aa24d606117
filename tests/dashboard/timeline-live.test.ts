/** The timeline while an instance goes on, with very many steps, and with hostile ones. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { shot } from "../support/browser.ts";
import { seedHostile, seedLong } from "../support/dashboard-seed.ts";
import { hostileTexts } from "../support/hostile-texts.ts";
import { onEachStore } from "../support/on-each-store.ts";
import { bars, label, openTimeline, row, rowNames } from "../support/timeline-page.ts";

onEachStore("the timeline, live and long", { isOfThePage: true }, (stage) => {
  const { store } = stage;

  test("a body at work grows before one's eyes, and is done when it is done", async () => {
    await stage.served.app.workflows.held.create({ id: "growing" });
    const page = await openTimeline(stage, "held/growing", { reducedMotion: "no-preference" });
    await row(page, "hold").waitFor();
    expect(await label(page, "hold")).toMatch(/^hold, running/);
    expect(await growths(page, 6)).toBeGreaterThanOrEqual(6);
    stage.served.gates.open("growing");
    await page.locator(".tl-row.s-completed", { hasText: "hold" }).waitFor();
    await page.locator(".status.is-complete").first().waitFor();
    // What has ended has no now.
    await expect.poll(() => page.locator("[data-now]").count()).toBe(0);
    expect((await bars(page, "hold")).map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual([
      "attempt completed",
    ]);
  });

  test("ten tabs leave connections for the host's own page, and all of them keep up", async () => {
    await stage.served.app.workflows.held.create({ id: "shared" });
    const first = await openTimeline(stage, "held/shared");
    const tabs = [first];
    while (tabs.length < 10) {
      const tab = await first.context().newPage();
      await tab.goto(first.url());
      tabs.push(tab);
    }
    for (const tab of tabs) await row(tab, "hold").waitFor();
    const host = await first.context().newPage();
    expect((await host.goto(`${stage.served.url}livez`))?.ok()).toBe(true);
    stage.served.gates.open("shared");
    for (const tab of tabs) await tab.locator(".tl-row.s-completed", { hasText: "hold" }).waitFor();
    // What has ended keeps no stream, in no tab.
    await expect.poll(() => host.evaluate("navigator.locks.query().then(({ held }) => held.length)")).toBe(0);
  });

  test("for those who want nothing to move it moves once a second", async () => {
    await stage.served.app.workflows.held.create({ id: "still" });
    const page = await openTimeline(stage, "held/still");
    await row(page, "hold").waitFor();
    const gaps = await changeGaps(page, 3);
    // Never at the pace of pictures; records of others may come in between.
    expect(Math.max(...gaps)).toBeGreaterThan(500);
    const moving = `getComputedStyle(document.querySelector("[data-live]"), "::after").animationName`;
    expect(await page.evaluate(moving)).toBe("none");
    stage.served.gates.open("still");
  });

  test("a thousand steps are in the list, but only those on the screen on the page", async () => {
    await seedLong(stage.served, 1000);
    const page = await openTimeline(stage, "long/long-complete");
    const count = () => page.locator(".tl-row").count();
    expect(await count()).toBeLessThan(80);
    expect(await page.getByText("1000 steps").count()).toBe(1);
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    await row(page, "step 1000").waitFor();
    expect(await count()).toBeLessThan(80);
    expect(await row(page, "step 1000").getAttribute("aria-posinset")).toBe("1000");
    await row(page, "step 990").focus();
    await page.keyboard.press("Home");
    await expect.poll(() => page.evaluate("document.activeElement?.dataset.key")).toBe("step 1");
    await row(page, "step 12").waitFor();
    await page.keyboard.press("End");
    await expect.poll(() => page.evaluate("document.activeElement?.dataset.key")).toBe("step 1000");
    await shot(page, `timeline-long-${store}`);
  });

  test("a drawing to scale stays one when a long wait begins: it does not become another by itself", async () => {
    await stage.served.app.workflows.held.create({ id: "steady", params: { rest: "1 hour" } });
    const page = await openTimeline(stage, "held/steady");
    await row(page, "hold").waitFor();
    const toScale = page.getByRole("button", { name: "To scale" });
    expect(await toScale.getAttribute("aria-pressed")).toBe("true");
    stage.served.gates.open("steady");
    await row(page, "rest").waitFor();
    const compress = page.getByRole("button", { name: "Compress waits" });
    await expect.poll(() => compress.isEnabled()).toBe(true);
    expect(await toScale.getAttribute("aria-pressed")).toBe("true");
    expect(await page.locator(".tl-break-text").count()).toBe(0);
  });

  test("names and errors that look like code stay texts", async () => {
    await seedHostile(stage.served);
    const page = await openTimeline(stage, "hostile/hostile-errored");
    const names = await rowNames(page);
    for (const text of hostileTexts.slice(0, 10))
      expect(names.some((name) => name.includes(text))).toBe(true);
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    await row(page, "broken").locator(".tl-line").hover();
    await page.getByRole("tooltip").waitFor();
    await row(page, "broken").click();
    await page.getByRole("region", { name: "Step broken" }).waitFor();
    // Beside the panel the room is the name's; the sign says how it is.
    expect(await row(page, "broken").locator(".tl-state > svg").isVisible()).toBe(true);
    expect(await row(page, "broken").locator(".tl-state > span").isVisible()).toBe(false);
    expect(await page.locator(".step-error-message").first().textContent()).toContain(hostileTexts[1]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await shot(page, `timeline-hostile-${store}`);
  });
});

const liveWidth = `(document.querySelector("[data-live]")?.getBoundingClientRect().width ?? 0)`;

/** How often the live bar was seen to have grown, once it has so often. */
function growths(page: Page, wanted: number): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    let [grown, last] = [0, Infinity];
    const look = () => {
      const width = ${liveWidth};
      if (width > last) grown++;
      last = width;
      if (grown >= ${wanted}) resolve(grown);
      else requestAnimationFrame(look);
    };
    look();
  })`);
}

/** Milliseconds between changes of the live bar. */
function changeGaps(page: Page, wanted: number): Promise<readonly number[]> {
  return page.evaluate(`new Promise((resolve) => {
    const times = [];
    let last = ${liveWidth};
    const look = () => {
      const width = ${liveWidth};
      if (width !== last) times.push(performance.now());
      last = width;
      if (times.length > ${wanted}) resolve(times.slice(1).map((time, n) => time - times[n]));
      else requestAnimationFrame(look);
    };
    look();
  })`);
}
