import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { axe, shot } from "../support/browser.ts";
import type { DashboardApp } from "../support/dashboard-app.ts";
import { seedEverything, seedMany } from "../support/dashboard-seed.ts";
import { onEachStore } from "../support/on-each-store.ts";

const many = 1050;
const seed = async (served: DashboardApp): Promise<void> => {
  await seedEverything(served);
  await seedMany(served, many);
};

onEachStore("the list of instances", { seed }, (stage) => {
  const { openPage, store } = stage;
  const open = async (page: Page, query = ""): Promise<void> => {
    await page.goto(`${stage.served.dashboardUrl}instances${query}`);
    await page.locator(".list-end").last().waitFor();
  };
  const ids = (page: Page): Promise<string[]> => page.locator(".row .id").allInnerTexts();
  const shows = (page: Page, expected: readonly string[]) =>
    expect.poll(async () => (await ids(page)).toSorted()).toEqual(expected.toSorted());

  test("a person finds instances by workflow, status, dead letter, id and order, and shares the address", async () => {
    const page = await openPage();
    await open(page);
    await page.getByLabel("Workflow", { exact: true }).selectOption("order");
    const orders = ["complete", "paused", "retrying", "terminated", "waiting"].map((end) => `order-${end}`);
    await shows(page, orders);
    await page.getByRole("button", { name: /^waiting 2/ }).click();
    await page.getByRole("button", { name: /^paused/ }).click();
    await shows(page, ["order-paused", "order-retrying", "order-waiting"]);
    const waits = page.locator('[data-key="order order-waiting"] .state');
    await expect.poll(() => waits.innerText()).toMatch(/^approval ← approved, times out in/);
    await page.getByLabel("Order", { exact: true }).selectOption("asc");
    await expect.poll(() => ids(page)).toEqual(["order-waiting", "order-retrying", "order-paused"]);
    await page.getByLabel("Id begins with", { exact: true }).fill("order-p");
    await shows(page, ["order-paused"]);
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      workflow: "order",
      status: "waiting,paused",
      order: "asc",
      id: "order-p",
    });

    const other = await openPage();
    await open(other, new URL(page.url()).search);
    await shows(other, ["order-paused"]);
    expect(await other.getByLabel("Workflow", { exact: true }).inputValue()).toBe("order");
    expect(await other.getByLabel("Id begins with", { exact: true }).inputValue()).toBe("order-p");
    expect(await other.getByRole("button", { name: /^paused/ }).getAttribute("aria-pressed")).toBe("true");

    await page.getByRole("link", { name: "Clear filters" }).click();
    await page.getByRole("button", { name: "dead letters" }).click();
    await shows(page, ["failing-dead"]);
    expect(await page.locator(".row .state").innerText()).toContain("The service is out of reach");
  });

  test("a person finds what was created in a span of time, in their own zone", async () => {
    const page = await openPage({ context: { timezoneId: "Asia/Tokyo" } });
    await open(page, "?workflow=order");
    await page.getByLabel("Created", { exact: true }).selectOption("1h");
    await expect.poll(() => page.url()).toContain("last=1h");
    await expect.poll(async () => (await ids(page)).length).toBe(5);
    await page.getByLabel("Created", { exact: true }).selectOption("between");
    await page.getByLabel("Created until", { exact: true }).fill("2020-01-01T09:00");
    await page.getByText("No instance matches these filters.").waitFor();
    expect(new URL(page.url()).searchParams.get("until")).toBe("2020-01-01T00:00:00.000Z");
    await page.getByLabel("Created until", { exact: true }).fill("");
    await page.getByLabel("Created from", { exact: true }).fill("2020-01-01T09:00");
    await expect.poll(async () => (await ids(page)).length).toBe(5);
    await page.getByRole("link", { name: "Clear filters" }).click();
    await expect.poll(() => new URL(page.url()).search).toBe("");
  });

  test("more than a thousand are loaded as the person scrolls, few are drawn, and what is seen stays true", async () => {
    const page = await openPage();
    await open(page);
    const toEnd = (): Promise<unknown> => page.evaluate("scrollTo(0, document.body.scrollHeight)");
    const row = page.locator('[data-key="order order-paused"]');
    await expect
      .poll(async () => {
        await toEnd();
        return page.locator(".list-end").last().innerText();
      })
      .toMatch(/^1,0\d\d instances$/);
    await toEnd();
    await row.waitFor();
    expect(await page.locator(".row").count()).toBeLessThan(60);
    await shot(page, `instances-scrolled-${store}`);
    await stage.served.app.workflows.order.at("order-paused").resume();
    await row.getByText("waiting", { exact: true }).waitFor();
    await stage.served.app.workflows.order.at("order-paused").pause();

    await row.click();
    await page.getByRole("heading", { name: "order-paused" }).waitFor();
    await page.goBack();
    // As far down as it was left.
    await row.waitFor();
  });

  test("ids are looked for among all, however far back they are", async () => {
    const page = await openPage();
    await open(page, "?id=quick-0000");
    await expect.poll(async () => (await ids(page)).length).toBe(9);
    await page.getByLabel("Id begins with", { exact: true }).fill("nobody-has-this");
    await page.getByText("No instance matches these filters.").waitFor();
    expect(await axe(page)).toEqual([]);
  });

  test("new instances appear on top; further down nothing moves, and a button tells of them", async () => {
    const { sleeper } = stage.served.app.workflows;
    const page = await openPage();
    await open(page);
    await sleeper.create({ id: `live-${store}-1`, params: { for: "1 hour" } });
    await expect.poll(async () => (await ids(page))[0]).toBe(`live-${store}-1`);
    await expect.poll(() => page.locator(".row .state").first().innerText()).toMatch(/^nap wakes in/);

    await page.evaluate("scrollTo(0, 4000)");
    await expect.poll(async () => (await ids(page))[0]).not.toBe(`live-${store}-1`);
    const before = await ids(page);
    for (const n of [2, 3, 4]) await sleeper.create({ id: `live-${store}-${n}`, params: { for: "1 hour" } });
    const button = page.getByRole("button", { name: "3 new" });
    await button.waitFor();
    expect(await ids(page)).toEqual(before);
    await shot(page, `instances-new-${store}`);
    await button.click();
    await expect
      .poll(async () => (await ids(page)).slice(0, 2))
      .toEqual([`live-${store}-4`, `live-${store}-3`]);
    expect(await page.evaluate("scrollY")).toBe(0);
  });

  test("everything can be done with the keyboard", async () => {
    const page = await openPage();
    await open(page, "?workflow=order&order=asc");
    const focused = (): Promise<unknown> => page.evaluate("document.activeElement?.dataset.key");
    await page.locator(".row").first().waitFor();
    await page.keyboard.press("j");
    await expect.poll(focused).toBe("order order-waiting");
    await page.keyboard.press("j");
    await expect.poll(focused).toBe("order order-complete");
    await page.keyboard.press("ArrowDown");
    await expect.poll(focused).toBe("order order-retrying");
    await page.keyboard.press("k");
    await expect.poll(focused).toBe("order order-complete");
    await page.keyboard.press("x");
    await page.getByText("1 selected", { exact: true }).waitFor();
    await page.keyboard.press("j");
    await expect.poll(focused).toBe("order order-retrying");
    await page.keyboard.press("Space");
    await page.getByText("2 selected", { exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toContain("/instances/order/order-retrying");
  });

  test.runIf(stage.store === "sqlite").each([
    ["light", 1280],
    ["dark", 360],
  ] as const)("it reads well and is accessible in %s, %i px wide", async (colorScheme, width) => {
    const page = await openPage({ colorScheme, width, height: width === 360 ? 740 : 800 });
    await open(page, "?status=active,waiting,paused,errored,terminated&order=asc");
    await page.getByLabel("Select order-waiting").click();
    await page.getByText("1 selected", { exact: true }).waitFor();
    expect(await axe(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await shot(page, `instances-${store}-${colorScheme}-${width}`);
  });
});
