import { expect, test } from "vitest";
import { axe, shot } from "../support/browser.ts";
import { seedEverything } from "../support/dashboard-seed.ts";
import { onEachStore } from "../support/on-each-store.ts";

onEachStore("the overview", { seed: seedEverything }, (stage) => {
  const { openPage, store } = stage;

  test("shows how many instances there are by status, each a link to them", async () => {
    const page = await openPage();
    await page.goto(stage.served.dashboardUrl);
    const tiles = page.getByRole("list", { name: "Instances by status" }).getByRole("link");
    const counts = await stage.served.app.counts();
    await expect
      .poll(async () => (await tiles.allInnerTexts()).map((text) => text.split(/\s+/)))
      .toEqual(Object.entries(counts).map(([status, count]) => [status, String(count)]));
    await tiles.filter({ hasText: "waiting" }).click();
    await expect.poll(() => new URL(page.url()).search).toBe("?status=waiting");
  });

  test("tells what may want attention: what is due, retries, dead letters, the oldest", async () => {
    const page = await openPage();
    await page.goto(stage.served.dashboardUrl);
    const fact = (name: string) =>
      page.locator(".fact").filter({ has: page.getByText(name, { exact: true }) });
    await expect.poll(() => fact("Due now").innerText()).toContain("nothing waits for a runner");
    expect(await fact("Retries due").innerText()).toMatch(/1\s+within the hour, the next in 30 minutes/);
    expect(await fact("Dead letters").innerText()).toMatch(/1\s+Review/);
    expect(await fact("Oldest waiting").innerText()).toContain("order-");
    expect(await fact("Oldest active").innerText()).toContain("held-active");
    // What is only scheduled is said to be so, and is not the oldest of what is active.
    const startAt = Date.now() + 3_600_000;
    const later = await stage.served.app.workflows.quick.create({ id: "later", startAt });
    await page.getByText("1 scheduled").waitFor();
    await later.terminate();
  });

  test("shows the runners with their last heartbeat, and what the store guarantees", async () => {
    const page = await openPage();
    // As if two others had been there before: one stopped, and one was killed.
    const past = { seenAt: new Date(Date.now() - 300_000), startedAt: new Date(Date.now() - 600_000) };
    await page.route(`${stage.served.url}runners`, async (route) => {
      const response = await route.fetch();
      const { runners } = (await response.json()) as { readonly runners: readonly object[] };
      const before = ["stopped", "silent"].map((state) => ({
        ...runners[0],
        ...past,
        state,
        id: state,
        isHere: false,
      }));
      await route.fulfill({ response, json: { runners: [...runners, ...before] } });
    });
    await page.goto(stage.served.dashboardUrl);
    const row = page.getByRole("row").filter({ hasText: "answers this page" });
    await expect.poll(() => row.innerText()).toMatch(/running[\s\S]*of 256[\s\S]*(ago|now)/);
    expect(await row.innerText()).toContain(String(process.pid));
    await page.getByText("2 earlier").click();
    const earlier = page.locator(".earlier .status");
    await expect.poll(() => earlier.allInnerTexts()).toEqual(["stopped", "gone"]);
    expect(await axe(page)).toEqual([]);
    await shot(page, `overview-earlier-${store}`, { fullPage: true });
    const panel = page.getByRole("region", { name: "Store and guarantees" });
    expect(await panel.innerText()).toContain(store === "sqlite" ? "SQLite" : "PostgreSQL");
    expect(await panel.innerText()).toContain("Durable");
    expect(await panel.innerText()).toContain("survives the end of the process");
  });

  test("draws what ended and what failed over time, to be read with the keyboard too", async () => {
    const page = await openPage();
    await page.goto(stage.served.dashboardUrl);
    const chart = page.getByRole("group", { name: /^Ended per minute/ });
    const { complete, errored, terminated } = await stage.served.app.counts();
    const ended = complete + errored + terminated;
    await expect
      .poll(() => page.getByText(/runs ended in the last hour/).innerText(), { timeout: 60_000 })
      .toContain(`${ended - terminated} runs ended in the last hour`);
    // The newest bar is as tall as what it stands for: nothing lies on it.
    const [top, plot] = await Promise.all([
      page.locator(".chart-top").first().boundingBox(),
      chart.locator(".chart-bars").boundingBox(),
    ]);
    expect((top?.y ?? 0) + (top?.height ?? 0)).toBeLessThanOrEqual(plot?.y ?? 0);
    await chart.focus();
    await page.keyboard.press("ArrowLeft");
    expect(await page.locator(".chart-readout").first().innerText()).toMatch(
      /\d\d:\d\d–\d\d:\d\d: .* complete/,
    );
    await page.getByRole("link", { name: "24h" }).click();
    await expect.poll(() => new URL(page.url()).search).toBe("?range=24h");
    await expect.poll(() => page.getByText(/ended in the last 24 hours/).count()).toBe(1);
  });

  test.runIf(store === "sqlite").each([
    ["light", 1280, 800],
    ["dark", 1280, 800],
    ["light", 360, 740],
    ["dark", 3840, 2160],
  ] as const)("is in order for everybody, %s at %d pixels", async (colorScheme, width, height) => {
    const page = await openPage({ colorScheme, width, height });
    await page.goto(stage.served.dashboardUrl);
    await page.getByText("Store and guarantees").waitFor();
    await page.getByText("answers this page").waitFor();
    expect(await axe(page)).toEqual([]);
    // What is at the top begins where the page begins.
    const [brand, title] = [page.locator(".brand"), page.getByRole("heading", { level: 1 })];
    expect((await brand.boundingBox())?.x).toBe((await title.boundingBox())?.x);
    const widest = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expect(widest).toBeLessThanOrEqual(0);
    await shot(page, `overview-${store}-${colorScheme}-${width}`, { fullPage: true });
  });
});

onEachStore("an overview without anything", { isOfThePage: true, isRunning: false }, (stage) => {
  test("says that there is no runner and how to begin", async () => {
    const page = await stage.openPage();
    await page.goto(stage.served.dashboardUrl);
    await page.getByText("No runner has been seen.").waitFor();
    expect(await page.getByText("No runs ended in the last hour").count()).toBe(2);
    await page.getByRole("link", { name: "Start one" }).click();
    await expect.poll(() => page.url()).toBe(`${stage.served.dashboardUrl}workflows`);
    await page.goto(`${stage.served.dashboardUrl}topics`);
    await page.getByText("A workflow subscribes to a topic with step.waitForEvent").waitFor();
  });
});
