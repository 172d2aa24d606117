/** What the timeline of an instance shows: read from where its bars are on the screen. */
import { expect, test } from "vitest";
import { axe, shot } from "../support/browser.ts";
import { reach } from "../support/dashboard-seed.ts";
import { onEachStore, type Stage } from "../support/on-each-store.ts";
import { bars, label, openTimeline, row, rowNames } from "../support/timeline-page.ts";

// Short enough that nobody waits for it, long enough to be measured on the screen.
const order = {
  item: "book",
  amount: 20,
  failures: 2,
  retryDelay: "300 milliseconds",
  coolOff: "300 milliseconds",
};

onEachStore("the timeline of an instance", { isOfThePage: true }, (stage) => {
  const { store } = stage;

  test("a step that was tried again is seen as attempt, wait, attempt, to scale", async () => {
    await completedOrder(stage, "retried");
    const page = await openTimeline(stage, "order/retried?scale=full");
    const charge = await bars(page, "charge");
    expect(charge.map(({ kind, outcome }) => `${kind} ${outcome}`)).toEqual([
      "attempt failed",
      "retry completed",
      "attempt failed",
      "retry completed",
      "attempt completed",
    ]);
    const [first, wait, second, nextWait, last] = charge as [Bar, Bar, Bar, Bar, Bar];
    for (const [before, after] of [
      [first, wait],
      [wait, second],
      [second, nextWait],
      [nextWait, last],
    ] as const)
      expect(after.left).toBeGreaterThanOrEqual(before.left);
    // As long as the records say.
    const { steps } = await stage.served.app.workflows.order.at("retried").history();
    const recorded = steps.find(({ name }) => name === "charge")!;
    const [waited, waitedNext] = recorded.errors.map(({ at, retryAt }) => Number(retryAt) - Number(at));
    expect(nextWait.width / wait.width).toBeCloseTo(waitedNext! / waited!, 1);
    const [sleep] = (await bars(page, "cool off")) as [Bar];
    expect(sleep.kind).toBe("sleep");
    const nap = steps.find(({ name }) => name === "cool off")!;
    expect(sleep.width / wait.width).toBeCloseTo((Number(nap.wakeAt) - Number(nap.createdAt)) / waited!, 1);
    expect(sleep.left).toBeGreaterThanOrEqual(last.left);
    expect(await label(page, "charge")).toMatch(
      /^charge, completed, 3 attempts, took .+ of which .+ waiting for retries$/,
    );
    expect(await axe(page)).toEqual([]);
    await shot(page, `timeline-retried-${store}`);
  });

  test("where the time went is said in numbers that add up", async () => {
    await completedOrder(stage, "retried");
    const page = await openTimeline(stage, "order/retried");
    const parts = await page
      .locator(".tl-summary [data-part]")
      .evaluateAll((all) =>
        all.map(
          (each) => [each.getAttribute("data-part") ?? "", each.querySelector("dd")?.textContent] as const,
        ),
      );
    const named = Object.fromEntries(parts);
    const { steps } = await stage.served.app.workflows.order.at("retried").history();
    const { errors } = steps.find(({ name }) => name === "charge")!;
    const waited = errors.reduce((sum, { at, retryAt }) => sum + Number(retryAt) - Number(at), 0);
    expect(named.retry).toContain(`${waited} ms`);
    expect(named.sleep).toMatch(/^\d+ ms/);
    expect(Object.keys(named)).toEqual(expect.arrayContaining(["work", "retry", "sleep", "event"]));
    const looks = await page.evaluate<
      string[]
    >(`[...document.querySelectorAll(".tl-stack > span")].map((part) => {
      const { backgroundColor, backgroundImage } = getComputedStyle(part);
      return backgroundColor + backgroundImage;
    })`);
    expect(new Set(looks).size, "each part has a look of its own").toBe(looks.length);
  });

  test("a wait for an event has a look of its own, and its planned end is seen where waits are cut short", async () => {
    const waiting = await stage.served.app.workflows.order.create({
      id: "asking",
      params: { item: "book", amount: 20 },
    });
    await reach(waiting, "waiting", "approval");
    const page = await openTimeline(stage, "order/asking");
    const looks = async () => (await bars(page, "approval")).map(({ kind, outcome }) => `${kind} ${outcome}`);
    expect(await looks()).toEqual(["planned open", "event open"]);
    const shown = await bars(page, "approval");
    expect(shown[0]!.width).toBeGreaterThan(shown[1]!.width);
    // A busy machine lets some time pass between two steps, too; that may be worth a break of its own.
    const cut = await page.locator(".tl-break-text").allTextContents();
    expect(cut.filter((text) => !/^[\d.]+ m?s$/.test(text))).toEqual(["1 h"]);
    await page.getByRole("button", { name: "To scale" }).click();
    await expect.poll(() => page.locator(".tl-break-text").count()).toBe(0);
    expect(page.url()).toContain("scale=full");
    await waiting.sendEvent({ type: "approved" });
    await expect.poll(looks).toEqual(["event completed"]);
    await row(page, "ship").waitFor();
  });

  test("steps side by side overlap, and steps inside of another are under it", async () => {
    const fan = await stage.served.app.workflows.fanOut.create({ id: "fan", params: { branches: 6 } });
    await fan.result();
    const page = await openTimeline(stage, "fan-out/fan");
    const [third, sixth] = [await bars(page, "branch 3"), await bars(page, "branch 6")].map(
      (all) => [all[0]!.left, all.at(-1)!.left + all.at(-1)!.width] as const,
    );
    expect(Math.min(third![1], sixth![1]) - Math.max(third![0], sixth![0])).toBeGreaterThan(20);
    const names = await rowNames(page);
    const outer = names.indexOf("outer");
    expect(names.slice(outer, outer + 3)).toEqual(["outer", "inner one", "inner two"]);
    expect(await row(page, "inner one").getAttribute("aria-level")).toBe("2");
    expect((await bars(page, "may fail")).map(({ outcome }) => outcome)).toEqual(["failed"]);
  });

  test("everything is there on a phone, in the dark", async () => {
    await completedOrder(stage, "retried");
    const page = await openTimeline(stage, "order/retried", { width: 360, height: 740, colorScheme: "dark" });
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    const name = await row(page, "charge").locator("bdi").boundingBox();
    const line = await row(page, "charge").locator(".tl-line").boundingBox();
    expect(line!.y).toBeGreaterThanOrEqual(name!.y + name!.height - 4);
    expect(line!.width).toBeGreaterThan(280);
    expect(await axe(page)).toEqual([]);
    await row(page, "charge").click();
    await page.getByRole("region", { name: "Step charge" }).waitFor();
    expect(await axe(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await shot(page, `timeline-phone-${store}`);
  });
});

type Bar = Awaited<ReturnType<typeof bars>>[number];

async function completedOrder({ served }: Stage, id: string): Promise<void> {
  const created = await served.app.workflows.order.create({ id, ifExists: "return", params: order as never });
  const { status } = await created.status();
  if (status === "complete") return;
  await reach(created, "waiting", "approval");
  await created.sendEvent({ type: "approved", payload: { by: "Ada" } });
  await created.result();
}
