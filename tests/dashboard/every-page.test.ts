/** Every page as it looks on a phone, a laptop and a wide screen, in light and in dark; with pictures of all of them. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { axe, shot } from "../support/browser.ts";
import type { DashboardApp } from "../support/dashboard-app.ts";
import { reach, seedEverything } from "../support/dashboard-seed.ts";
import { onEachStore, type Stage } from "../support/on-each-store.ts";

/** A phone, a laptop, a wide screen. */
const sizes = [
  [390, 844],
  [1280, 800],
  [2560, 1440],
] as const;

interface Shown {
  readonly path: string;
  /** All is there once this is seen. */
  readonly seen: string;
  readonly act?: (page: Page) => Promise<unknown>;
}

const pages: Readonly<Record<string, Shown>> = {
  overview: { path: "", seen: "answers this page" },
  workflows: { path: "workflows", seen: "fan-out" },
  workflow: { path: "workflows/order", seen: "p95 duration" },
  "workflow-form": { path: "workflows/signup", seen: "Where the welcome goes" },
  "workflow-unknown": { path: "workflows/nobody", seen: "nobody" },
  instances: { path: "instances", seen: "approval ← approved" },
  "instances-none": { path: "instances?id=nobody-has-this", seen: "No instance matches these filters." },
  "instances-chosen": {
    path: "instances?status=waiting",
    seen: "approval ← approved",
    act: (page) => page.getByLabel("Select order-waiting").check(),
  },
  topics: { path: "topics", seen: "prices.changed" },
  topic: { path: "topics?topic=prices.changed", seen: "listener-1" },
  "dead-letters": { path: "dead-letters", seen: "failing-dead" },
  nothing: { path: "no-such-page", seen: "There is nothing at this address." },
  "instance-waiting": { path: "instances/order/order-waiting", seen: "cool off" },
  "instance-complete": { path: "instances/order/order-complete", seen: "ship" },
  "instance-retrying": { path: "instances/order/order-retrying", seen: "follows" },
  "instance-paused": { path: "instances/order/order-paused", seen: "Paused" },
  "instance-terminated": { path: "instances/order/order-terminated", seen: "Nobody wants it." },
  "instance-errored": { path: "instances/failing/failing-dead", seen: "Open step" },
  "instance-doomed": { path: "instances/doomed/doomed-errored", seen: "There is nothing left to sell." },
  "instance-running": { path: "instances/held/held-active", seen: "hold" },
  "instance-scheduled": { path: "instances/quick/quick-scheduled", seen: "Scheduled, starts" },
  "instance-parent": { path: "instances/parent/parent-waiting", seen: "report of parent-waiting-child-1" },
  "instance-branches": { path: "instances/fan-out/fan-out-complete", seen: "inner two" },
  "instance-step": { path: "instances/failing/failing-dead?step=1", seen: "per attempt" },
  "instance-events": { path: "instances/order/order-complete?tab=events", seen: "approved" },
  "instance-events-none": { path: "instances/order/order-waiting?tab=events", seen: "No events yet" },
  "instance-logs": { path: "instances/chatty/chatty-complete?tab=logs", seen: "line 7" },
  "instance-data": { path: "instances/signup/signup-complete?tab=data", seen: "ada@example.com" },
  "instance-runs": { path: "instances/order/order-restarted?tab=runs", seen: "Run 2" },
  "instance-family": { path: "instances/parent/parent-waiting?tab=family", seen: "parent-waiting-child-2" },
  "instance-unknown": { path: "instances/order/nobody", seen: "nobody" },
};

const emptyPages: Readonly<Record<string, Shown>> = {
  "empty-overview": { path: "", seen: "answers this page" },
  "empty-instances": { path: "instances", seen: "There are no instances yet." },
  "empty-workflow": { path: "workflows/order", seen: "Start an instance" },
  "empty-topics": { path: "topics", seen: "Publish" },
  "empty-dead-letters": { path: "dead-letters", seen: "No dead letters" },
};

async function seed(served: DashboardApp): Promise<void> {
  await seedEverything(served);
  const { order, quick } = served.app.workflows;
  await quick.create({ id: "quick-scheduled", startAt: Date.now() + 3_600_000 });
  const twice = await order.create({ id: "order-restarted", params: { item: "lamp", amount: 7 } });
  await reach(twice, "waiting", "approval");
  await twice.restart();
  await reach(twice, "waiting", "approval");
}

onEachStore("every page", { isOfThePage: true, seed }, (stage) => {
  test.each(Object.entries(pages))("%s fits everywhere, in light and in dark", async (name, shown) => {
    expect(await misfitsOf(await open(stage, shown), name)).toEqual([]);
  });
});

onEachStore("pages of an empty app", { isOfThePage: true }, (stage) => {
  test.each(Object.entries(emptyPages))("%s fits everywhere, in light and in dark", async (name, shown) => {
    expect(await misfitsOf(await open(stage, shown), name)).toEqual([]);
  });
});

onEachStore("the page before all others", { isOfThePage: true, authorize: "tokens" }, (stage) => {
  test("sign-in fits everywhere, in light and in dark", async () => {
    const page = await open(stage, { path: "", seen: "Token" });
    expect(await misfitsOf(page, "sign-in")).toEqual([]);
  });
});

/** In every width and colour; with a picture of each. */
async function misfitsOf(page: Page, name: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [width, height] of sizes) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await settled(page);
      await shot(page, `every-page/${name}-${width}-${colorScheme}`, { fullPage: width === 390 });
      const wrong = [...(await page.evaluate<string[]>(misfits)), ...(width === 2560 ? [] : await axe(page))];
      found.push(...wrong.map((line) => `${width} ${colorScheme}: ${line}`));
    }
  }
  return found;
}

async function open(stage: Stage, { path, seen, act }: Shown): Promise<Page> {
  const page = await stage.openPage({ mayComplain: [/status of 40[14]/] });
  await page.goto(`${stage.served.dashboardUrl}${path}`);
  await page.getByText(seen).filter({ visible: true }).first().waitFor();
  await act?.(page);
  return page;
}

/** What follows the width of its window has done so. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60))))",
  );
}

/**
 * What a reader would stumble over: a page that is wider than its window, a strip that scrolls by a few pixels, a text that is cut
 * short and told nowhere in full.
 */
const misfits = `(() => {
  const found = [];
  const nameOf = (each) => each.tagName.toLowerCase() + "." + [...each.classList].join(".") + " " + JSON.stringify((each.textContent ?? "").slice(0, 40));
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) found.push("the page is " + root.scrollWidth + " pixels wide");
  for (const each of document.querySelectorAll("body *")) {
    const { overflowX, overflowY, textOverflow, display } = getComputedStyle(each);
    if (display === "none" || each.clientWidth === 0) continue;
    const [right, below] = [each.scrollWidth - each.clientWidth, each.scrollHeight - each.clientHeight];
    const scrolls = (overflow) => overflow === "auto" || overflow === "scroll";
    if (each.matches(".tabs, .nav") && (right > 0 || below > 0)) found.push("a strip scrolls: " + nameOf(each) + " by " + right + ", " + below);
    else if (scrolls(overflowX) && right > 0 && right <= 16) found.push("a stray scrollbar below: " + nameOf(each) + " by " + right);
    else if (scrolls(overflowY) && below > 0 && below <= 16 && each.clientHeight > 0) found.push("a stray scrollbar beside: " + nameOf(each) + " by " + below);
    if (textOverflow === "ellipsis" && right > 0 && overflowX !== "visible" && !each.closest("[title]")) found.push("cut short: " + nameOf(each));
  }
  return found;
})()`;
