/** What a person can do with the timeline: look closer, choose, go through it by keys, and open a step. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { axe, shot } from "../support/browser.ts";
import type { DashboardApp } from "../support/dashboard-app.ts";
import { reach } from "../support/dashboard-seed.ts";
import { onEachStore } from "../support/on-each-store.ts";
import { bars, openTimeline, row, rowNames, type SeenBar } from "../support/timeline-page.ts";

onEachStore("looking into a timeline", { isOfThePage: true, seed }, (stage) => {
  const { store } = stage;

  test("a person goes through the steps by keys, opens one and closes it again", async () => {
    const page = await openTimeline(stage, "order/done");
    await row(page, "reserve").focus();
    await page.keyboard.press("ArrowDown");
    expect(await focused(page)).toBe("charge");
    await page.keyboard.press("End");
    expect(await focused(page)).toBe("ship");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Step charge" }).waitFor();
    expect(new URL(page.url()).searchParams.get("step")).not.toBe(null);
    expect(await row(page, "charge").getAttribute("aria-selected")).toBe("true");
    await page.keyboard.press("Escape");
    await page.getByRole("region", { name: "Step charge" }).waitFor({ state: "detached" });
    expect(await focused(page)).toBe("charge");
    // One stop for Tab: the next is not another row.
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe(undefined);
  });

  test("a row is a link that can be opened elsewhere", async () => {
    const page = await openTimeline(stage, "order/done");
    const href = await row(page, "charge").getAttribute("href");
    await page.goto(new URL(href ?? "", page.url()).href);
    await page.getByRole("region", { name: "Step charge" }).waitFor();
  });

  test("the panel of a step tells its errors, the newest first, and what it returned", async () => {
    const page = await openTimeline(stage, "order/done");
    await row(page, "charge").click();
    const panel = page.getByRole("region", { name: "Step charge" });
    await panel.getByText("ch_20").waitFor();
    expect(await panel.locator(".step-error-message").allTextContents()).toEqual([
      "The bank did not answer (attempt 2).",
      "The bank did not answer (attempt 1).",
    ]);
    expect(await panel.getByText("3 of at most 6").count()).toBe(1);
    // The author's own frames; those of the engine are folded.
    const stack = panel.getByLabel("Stack", { exact: true }).first();
    expect(await stack.innerText()).toMatch(/^at .*dashboard-workflows\.ts/);
    expect(await stack.innerText()).not.toContain("packages/everstep");
    await stack.getByRole("button", { name: /Show \d+ frames? of the engine/ }).waitFor();
    const beside = await panel.boundingBox();
    const chart = await page.getByRole("region", { name: "Timeline" }).boundingBox();
    expect(beside!.x).toBeGreaterThanOrEqual(chart!.x + chart!.width);
    expect(await axe(page)).toEqual([]);
    await shot(page, `step-panel-${store}`);
    await row(page, "approval").click();
    await page.getByRole("region", { name: "Step approval" }).getByText('"Ada"').waitFor();
    await page.getByRole("button", { name: "Close the step" }).click();
    await expect.poll(() => page.locator(".step-panel").count()).toBe(0);
  });

  test("a bar that is pointed at or has the focus tells what it is, and is not cut off", async () => {
    const page = await openTimeline(stage, "order/done");
    await row(page, "charge").locator(".tl-line").hover();
    const card = page.getByRole("tooltip");
    await card.getByText("Waited for retries").waitFor();
    expect(await card.textContent()).toContain("Last errorError: The bank did not answer (attempt 2).");
    await isWhole(page);
    await page.mouse.move(0, 0);
    await card.waitFor({ state: "detached" });
    await row(page, "cool off").focus();
    await page.keyboard.press("End");
    await card.waitFor();
    expect(await card.locator("strong").textContent()).toBe("ship");
    await isWhole(page);
  });

  test("a person looks closer, and the address brings others to the same place", async () => {
    const page = await openTimeline(stage, "order/done?scale=full");
    const whole = await bars(page, "charge");
    await page.getByRole("button", { name: "Zoom in" }).click();
    await page.getByRole("button", { name: "Zoom in" }).click();
    await expect.poll(() => page.url()).toMatch(/[?&]from=.+&to=/);
    expect((await seen(page)).share).toBeCloseTo(1 / 1.6 ** 2, 1);
    const closer = await bars(page, "charge");
    await shot(page, `timeline-zoomed-${store}`);
    await page.goto(page.url());
    await row(page, "charge").locator(".tl-block").first().waitFor();
    expect(rounded(await bars(page, "charge"))).toEqual(rounded(closer));
    await row(page, "charge").focus();
    await page.keyboard.press("0");
    await expect.poll(() => page.url()).not.toContain("from=");
    expect(rounded(await bars(page, "charge"))).toEqual(rounded(whole));
  });

  test("keys, the wheel and dragging look closer too", async () => {
    const page = await openTimeline(stage, "order/done?scale=full");
    const share = async () => (await seen(page)).share;
    await row(page, "charge").focus();
    await page.keyboard.press("+");
    await expect.poll(share).toBeCloseTo(1 / 1.6, 1);
    const { begin } = await seen(page);
    await page.keyboard.press("ArrowRight");
    await expect.poll(async () => (await seen(page)).begin).toBeGreaterThan(begin);
    await page.keyboard.press("-");
    await expect.poll(share).toBe(1);

    const box = (await row(page, "cool off").locator(".tl-block").first().boundingBox())!;
    await page.mouse.move(box.x, box.y + 5);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -100);
    await page.keyboard.up("Control");
    await expect.poll(share).toBeLessThan(0.8);
    // What is under the pointer stays under it.
    expect(Math.abs((await bars(page, "cool off"))[0]!.left - box.x)).toBeLessThan(3);
    await page.keyboard.press("0");
    await expect.poll(share).toBe(1);

    const axis = (await page.locator(".tl-axis").boundingBox())!;
    await page.mouse.move(axis.x + axis.width * 0.25, axis.y + 10);
    await page.mouse.down();
    await page.mouse.move(axis.x + axis.width * 0.75, axis.y + 10);
    await page.mouse.up();
    await expect.poll(share).toBeCloseTo(0.5, 1);
    expect((await seen(page)).begin).toBeCloseTo(0.25, 1);
  });

  test("long waits are cut short, or drawn to scale, as one likes", async () => {
    const page = await openTimeline(stage, "order/done?scale=compressed");
    const cut = await page.locator(".tl-break-text").count();
    expect(cut).toBeGreaterThan(0);
    expect(await page.locator(".tl-snip").count()).toBeGreaterThan(0);
    await page.getByRole("button", { name: "To scale" }).click();
    await expect.poll(() => page.locator(".tl-break-text").count()).toBe(0);
    await page.getByRole("button", { name: "Compress waits" }).click();
    await expect.poll(() => page.locator(".tl-break-text").count()).toBe(cut);
    expect(page.url()).toContain("scale=compressed");
    // As it was chosen last, on the next timeline too; what the looks mean is said when it is asked.
    await page.getByRole("button", { name: "To scale" }).click();
    await page.goto(`${stage.served.dashboardUrl}instances/order/done`);
    await page.locator(".tl-row .tl-block").first().waitFor();
    expect(await page.locator(".tl-break-text").count()).toBe(0);
    expect(await page.getByText("attempt that completed").count()).toBe(0);
    await page.getByRole("button", { name: "Legend" }).click();
    await page.getByText("attempt that completed").waitFor();
    // The last step is short, and within the chart.
    const [track, last] = await Promise.all([page.locator(".tl-axis").boundingBox(), bars(page, "ship")]);
    const end = Math.max(...last.map(({ left, width }) => left + width));
    expect(end).toBeLessThanOrEqual((track?.x ?? 0) + (track?.width ?? 0));
  });

  test("steps are found by name, and completed ones hidden, as the address says", async () => {
    const page = await openTimeline(stage, "fan-out/fan");
    await page.getByLabel("Find steps by name").fill("inner");
    await expect.poll(() => rowNames(page)).toEqual(["outer", "inner one", "inner two"]);
    await page.goto(page.url());
    await expect.poll(() => rowNames(page)).toEqual(["outer", "inner one", "inner two"]);
    await page.getByLabel("Find steps by name").fill("");
    await page.getByLabel("Hide completed").check();
    await expect.poll(() => rowNames(page)).toEqual(["may fail"]);
    expect(page.url()).toContain("hide=completed");
    await page.getByLabel("Find steps by name").fill("nothing is called so");
    await page.getByText("No step is like that.").waitFor();
  });

  test("what is inside of a step can be folded away, by mouse and by keys", async () => {
    const page = await openTimeline(stage, "fan-out/fan?findStep=inner");
    await row(page, "outer").locator(".tl-fold").click();
    await expect.poll(() => rowNames(page)).toEqual(["outer"]);
    expect(await row(page, "outer").getAttribute("aria-expanded")).toBe("false");
    expect(await page.locator(".step-panel").count()).toBe(0);
    await page.goto(page.url());
    await expect.poll(() => rowNames(page)).toEqual(["outer"]);
    await row(page, "outer").focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => rowNames(page)).toEqual(["outer", "inner one", "inner two"]);
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => rowNames(page)).toEqual(["outer"]);
  });
});

async function seed({ app }: DashboardApp): Promise<void> {
  const done = await app.workflows.order.create({
    id: "done",
    params: {
      item: "book",
      amount: 20,
      failures: 2,
      retryDelay: "150 milliseconds",
      coolOff: "300 milliseconds",
    },
  });
  const fan = await app.workflows.fanOut.create({ id: "fan", params: { branches: 3 } });
  await reach(done, "waiting", "approval");
  await done.sendEvent({ type: "approved", payload: { by: "Ada" } });
  await Promise.all([done.result(), fan.result()]);
}

/** The key of the row that has the focus. */
function focused(page: Page): Promise<unknown> {
  return page.evaluate("document.activeElement?.dataset.key");
}

/** The part of the whole that is seen, as the strip above the axis shows it. */
async function seen(page: Page): Promise<{ readonly begin: number; readonly share: number }> {
  if ((await page.locator(".tl-window").count()) === 0) return { begin: 0, share: 1 };
  const part = (await page.locator(".tl-window").boundingBox())!;
  const whole = (await page.locator(".tl-overview").boundingBox())!;
  return { begin: (part.x - whole.x) / whole.width, share: part.width / whole.width };
}

function rounded(all: readonly SeenBar[]): readonly string[] {
  return all.map(({ kind, left, width }) => `${kind} ${Math.round(left)} ${Math.round(width)}`);
}

async function isWhole(page: Page): Promise<void> {
  const box = (await page.getByRole("tooltip").boundingBox())!;
  const { width, height } = page.viewportSize()!;
  expect(box.x).toBeGreaterThanOrEqual(0);
  expect(box.y).toBeGreaterThanOrEqual(0);
  expect(box.x + box.width).toBeLessThanOrEqual(width);
  expect(box.y + box.height).toBeLessThanOrEqual(height);
}
