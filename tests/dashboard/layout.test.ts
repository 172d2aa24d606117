/** Where things are on the page: what must not break, wrap or be covered, on phones, laptops and wide screens. */
import type { Locator } from "playwright-core";
import { expect, onTestFailed, test } from "vitest";
import { axe, shot } from "../support/browser.ts";
import { reach, seedEverything } from "../support/dashboard-seed.ts";
import { onEachStore } from "../support/on-each-store.ts";
import { bars, label, openTimeline, row } from "../support/timeline-page.ts";

const widths = [390, 1280, 2560] as const;
// What a browser says of a server that is not there at the moment.
const mayComplain = [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE_CHUNKED/];

onEachStore("the layout", { isOfThePage: true, seed: seedEverything }, (stage) => {
  test.each(widths)("durations in the list stay on one line at %d pixels", async (width) => {
    const page = await stage.openPage({ width });
    await page.goto(`${stage.served.dashboardUrl}instances?status=complete`);
    const cell = page.locator(".row .life").first();
    await cell.waitFor();
    for (const text of ["not started", "59 min 59 s", "23 h 59 min", "364 d 23 h"]) {
      expect([text, ...(await linesOf(cell, text))]).toEqual([text, 1, false]);
    }
  });

  test("the name of an error is not broken on a phone", async () => {
    const page = await openTimeline(stage, "failing/failing-dead?step=1", { width: 390, height: 844 });
    const name = page.locator(".step-error strong").first();
    await name.waitFor();
    expect((await box(name)).height).toBeLessThan(30);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await shot(page, "layout-step-390", { fullPage: true });
  });

  test("a long name of a step is read in full where there is room for it", async () => {
    const page = await openTimeline(stage, "parent/parent-complete");
    const name = row(page, "report of parent-complete-child-1").locator("bdi");
    expect(await name.evaluate((each) => each.scrollWidth > each.clientWidth)).toBe(false);
    await page.goto(`${stage.served.dashboardUrl}instances/sleeper/sleeper-waiting`);
    await page.locator(".tl-name").first().waitFor();
    // Short names leave the room to the bars.
    expect((await box(page.locator(".tl-name").first())).width).toBeLessThan(320);
  });

  test("the facts of an instance stand in one line on a laptop, and in two columns on a phone", async () => {
    const page = await openTimeline(stage, "failing/failing-dead");
    const names = page.locator(".instance-facts dt");
    await page.getByText("Took", { exact: true }).waitFor();
    expect(new Set(await tops(names)).size).toBe(1);
    await page.setViewportSize({ width: 390, height: 844 });
    const values = page.locator(".instance-facts dd");
    const lefts = await values.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().left));
    expect(new Set(lefts).size).toBe(1);
    expect(new Set(await tops(names)).size).toBe(await names.count());
    const facts = await box(page.locator(".instance-facts"));
    expect((await box(page.locator(".tabs"))).y - facts.y - facts.height).toBeLessThan(32);
    expect(await page.locator(".instance-facts time").first().getAttribute("title")).toMatch(/\(UTC\)$/);
    expect(await axe(page)).toEqual([]);
    await shot(page, "layout-head-390", { fullPage: true });
  });

  test("how long it runs, how long ago it began and how long its step is at work are the same number at every moment", async () => {
    const page = await openTimeline(stage, "held/held-active");
    await row(page, "hold").waitFor();
    // What stands on the page after every frame, for four changes of the second.
    const seen = await page.evaluate<readonly string[][]>(`new Promise((done) => {
      const text = (found) => found?.textContent ?? "";
      const fact = (name) => text([...document.querySelectorAll(".instance-facts div")]
        .find((each) => text(each.querySelector("dt")) === name)?.querySelector("dd"));
      const all = [];
      const look = () => {
        all.push([fact("Started"), fact("Running for"), text(document.querySelector(".tl-total dd")), text(document.querySelector(".lead-strip p"))]);
        if (all.length < 240) requestAnimationFrame(look); else done(all);
      };
      look();
    })`);
    const numbers = seen.map(([started = "", ran = "", total = "", lead = ""]) => [
      wholeSeconds(started),
      wholeSeconds(ran),
      wholeSeconds(total),
      wholeSeconds(lead),
    ]);
    expect(new Set(numbers.map(([ran]) => ran)).size).toBeGreaterThan(1);
    const wrong = numbers.filter(([, ran = 0, total = 0]) => Math.abs(total - ran) > 0);
    expect(wrong).toEqual([]);
    // In words only whole minutes are told, once there are some.
    const unlike = numbers.filter(([ago = 0, ran = 0]) => ago !== (ran < 60 ? ran : ran - (ran % 60)));
    expect(unlike).toEqual([]);
  });

  test("while the server is out of reach everything stands still at the same time, and no action looks possible", async () => {
    const page = await openTimeline(stage, "held/held-active", { mayComplain });
    await row(page, "hold").waitFor();
    await stage.served.stopServing();
    // The others need it, whatever fails here.
    onTestFailed(() => stage.served.serveAgain().catch(() => {}));
    await page.getByText("reconnecting").waitFor();
    const [pause, terminate] = ["Pause", "Terminate"].map((name) => page.getByRole("button", { name }));
    expect(await colour(terminate!)).toBe(await colour(pause!));
    const [total, ran] = [page.locator(".tl-total dd"), page.locator(".instance-facts dd").nth(3)];
    expect(Math.abs(secondsOf(await total.innerText()) - secondsOf(await ran.innerText()))).toBeLessThan(0.2);
    // As long as its bar, which ends where the line of now is.
    const took = secondsOf((await label(page, "hold"))?.split("took ")[1] ?? "");
    expect(took).toBeGreaterThan(0);
    expect(took).toBeLessThanOrEqual(secondsOf(await total.innerText()));
    const [bar] = await bars(page, "hold");
    const now = await box(page.locator(".tl-axis > .tl-now"));
    expect(Math.abs(bar!.left + bar!.width - now.x)).toBeLessThan(3);
    await shot(page, "layout-out-of-reach");
    await stage.served.serveAgain();
    await page.getByText("live", { exact: true }).waitFor();
  });

  test("an instance whose start is still to come is drawn until then", async () => {
    const startAt = Date.now() + 3_600_000;
    const later = await stage.served.app.workflows.quick.create({ id: "later", startAt });
    const page = await stage.openPage();
    await page.goto(`${stage.served.dashboardUrl}instances/quick/later`);
    await expect.poll(() => page.locator(".tl-break-text").allTextContents()).toEqual(["1 h"]);
    await page.getByText("It has not begun yet.").waitFor();
    await shot(page, "layout-scheduled");
    await later.terminate();
  });

  test("a step that somebody retried was errored until then, and the attempts after it have their time", async () => {
    const { failing } = stage.served.app.workflows;
    // Longer than a busy machine takes to record the failure: a retry that is due by then leaves no gap.
    const dead = await failing.create({ id: "retried", params: { retries: 1, delay: "1 second" } });
    await reach(dead, "errored");
    await new Promise((resolve) => setTimeout(resolve, 300));
    await dead.retryFailedStep({ delay: "100 milliseconds" });
    await expect.poll(async () => (await dead.history()).steps[1]?.errors.length).toBe(3);
    await reach(dead, "errored");
    const page = await openTimeline(stage, "failing/retried?scale=full");
    expect((await bars(page, "call")).map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual([
      "attempt failed",
      "retry completed",
      "attempt failed",
      "errored completed",
      "retry completed",
      "attempt failed",
    ]);
    const parts = page.locator(".tl-summary [data-part]");
    const named = await parts.evaluateAll((all) => all.map((each) => each.getAttribute("data-part")));
    expect(named).toEqual(expect.arrayContaining(["failed", "retry", "errored"]));
    await page.getByRole("button", { name: "Legend" }).click();
    expect(await axe(page)).toEqual([]);
    await shot(page, "layout-retried");
  });
});

/** In how many lines a text stands in this place, and whether a part of it is cut off. */
function linesOf(place: Locator, text: string): Promise<readonly unknown[]> {
  return place.evaluate((element, given) => {
    element.textContent = given;
    const range = element.ownerDocument.createRange();
    range.selectNodeContents(element);
    return [range.getClientRects().length, element.scrollWidth > element.clientWidth];
  }, text);
}

function tops(places: Locator): Promise<readonly number[]> {
  return places.evaluateAll((all) => all.map((each) => each.getBoundingClientRect().top));
}

function colour(place: Locator): Promise<unknown> {
  return place.evaluate((each) => each.ownerDocument.defaultView?.getComputedStyle(each).color);
}

async function box(element: Locator) {
  const found = await element.boundingBox();
  if (!found) throw new Error("It is not to be seen.");
  return found;
}

/** "12 seconds ago", "12.6 s", "1 min 3 s": as whole seconds. */
function wholeSeconds(text: string): number {
  const of = (pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0);
  return 60 * of(/(\d+) min/) + of(/(\d+)(?:\.\d+)? s(?!t)/);
}

/** "840 ms" is 0.84, "7.6 s" is 7.6. */
function secondsOf(text: string): number {
  const [, value = "", unit] = /([\d.]+) (ms|s|min)/.exec(text) ?? [];
  return Number(value) * (unit === "ms" ? 0.001 : unit === "min" ? 60 : 1);
}
