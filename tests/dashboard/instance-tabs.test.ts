import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { axe, shot } from "../support/browser.ts";
import type { DashboardApp } from "../support/dashboard-app.ts";
import { reach } from "../support/dashboard-seed.ts";
import { onEachStore, type Stage } from "../support/on-each-store.ts";

const book = { item: "book", amount: 20 };

/** One with many lines, and one with two runs. */
async function seed({ app }: DashboardApp): Promise<void> {
  const chatty = await app.workflows.chatty.create({ id: "chatty", params: { lines: 240 } });
  const order = await app.workflows.order.create({ id: "restarted", params: book });
  await reach(order, "waiting", "approval");
  await order.restart();
  await reach(order, "waiting", "approval");
  await chatty.result();
}

onEachStore("the tabs of an instance", { isOfThePage: true, seed }, (stage) => {
  const { store } = stage;

  test("the event that is waited for is one click away, and is shown with the step that took it", async () => {
    const order = await stage.served.app.workflows.order.create({ id: "approving", params: book });
    await reach(order, "waiting", "approval");
    const page = await open(stage, "order/approving");
    await page.getByRole("link", { name: "Send event" }).click();
    expect(await page.getByLabel("Type", { exact: true }).inputValue()).toBe("approved");
    expect(await page.getByLabel("approved").isChecked()).toBe(true);
    await expect.poll(() => page.evaluate("document.activeElement?.tagName")).toBe("TEXTAREA");
    await page.getByLabel("Payload (JSON)").fill("{ by: Ada }");
    await page.getByText(/This is not JSON/).waitFor();
    expect(await page.getByRole("button", { name: "Send", exact: true }).isDisabled()).toBe(true);
    await page.getByLabel("Payload (JSON)").fill('{ "by": "Ada" }');
    expect(await axe(page)).toEqual([]);
    await shot(page, `instance-events-${store}`);
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("Taken by approval").waitFor();
    await page.getByText('"Ada"').waitFor();
    expect(await order.result()).toMatchObject({ output: { approvedBy: "Ada" } });
    // It has ended: it takes no more.
    await expect.poll(() => page.getByRole("button", { name: "Send", exact: true }).count()).toBe(0);
    await page.getByRole("link", { name: "approval" }).click();
    await page.waitForURL(/\/order\/approving\?step=\d+$/);
  });

  test("an event of another type is kept, and the same key has no further effect", async () => {
    const order = await stage.served.app.workflows.order.create({ id: "keeping", params: book });
    await reach(order, "waiting", "approval");
    const page = await open(stage, "order/keeping?tab=events");
    for (const _ of ["once", "twice"]) {
      await page.getByLabel("Type", { exact: true }).fill("later");
      await page.getByText("No step waits for this type now.").waitFor();
      await page.getByLabel("Idempotency key (optional)").fill("keeping-1");
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await expect.poll(() => page.getByLabel("Idempotency key (optional)").inputValue()).toBe("");
    }
    await page.getByText("kept, not taken yet").waitFor();
    expect(await page.getByRole("list", { name: "Events" }).getByRole("listitem").count()).toBe(1);
  });

  test("events are paged, newest first", async () => {
    const order = await stage.served.app.workflows.order.create({ id: "many-events", params: book });
    for (let n = 1; n <= 60; n++) await order.sendEvent({ type: `event-${n}` });
    const page = await open(stage, "order/many-events?tab=events");
    const titles = page.getByRole("list", { name: "Events" }).locator("h2");
    await expect.poll(() => titles.count()).toBe(50);
    expect(await titles.first().innerText()).toBe("event-60");
    await page.getByRole("button", { name: "Earlier events" }).click();
    await expect.poll(() => titles.count()).toBe(60);
    expect(await titles.last().innerText()).toBe("event-1");
  });

  test("log lines are found by level and category, and earlier ones are a click away", async () => {
    const page = await open(stage, "chatty/chatty?tab=logs");
    const lines = page.locator(".log-line .message");
    await expect.poll(() => lines.count()).toBe(100);
    expect(await lines.last().innerText()).toBe("from inside of a step");
    await page.getByRole("button", { name: "Earlier lines" }).click();
    await expect.poll(() => lines.count()).toBe(200);
    await page.getByRole("button", { name: "Earlier lines" }).click();
    await expect.poll(() => lines.first().innerText()).toBe("line 1");
    await page.getByLabel("Level").selectOption("error");
    await expect.poll(() => lines.count()).toBe(60);
    await page.getByLabel("Category").fill("payments");
    await expect.poll(() => lines.count()).toBe(20);
    expect(page.url()).toMatch(/tab=logs&level=error&category=payments$/);
    await page.getByRole("button", { name: "Open the data" }).last().click();
    await page.locator(".log .json").getByText('"error"').waitFor();
    expect(await axe(page)).toEqual([]);
    await shot(page, `instance-logs-${store}`);
    await page.getByLabel("Category").fill("nobody");
    await page.keyboard.press("Enter");
    await page.getByText("No line fits.").waitFor();
    await page.getByRole("button", { name: "Show all lines" }).click();
    await page.getByRole("link", { name: "work", exact: true }).click();
    await page.waitForURL(/\/chatty\/chatty\?step=\d+$/);
  });

  test("lines that are written while somebody looks are followed, until they scroll up to read", async () => {
    const talker = await stage.served.app.workflows.talker.create({ id: "talker" });
    const say = (lines: number) => talker.sendEvent({ type: "say", payload: { lines } });
    await say(40);
    const page = await open(stage, "talker/talker?tab=logs");
    const lines = page.locator(".log-line .message");
    await expect.poll(() => lines.count()).toBe(40);
    await say(10);
    await expect.poll(() => lines.count()).toBe(50);
    const toEnd = `(() => { const log = document.querySelector(".log");
      return Math.round(log.scrollHeight - log.scrollTop - log.clientHeight); })()`;
    await expect.poll(() => page.evaluate(toEnd)).toBe(0);
    await page.locator(".log").hover();
    await page.mouse.wheel(0, -400);
    await page.getByRole("button", { name: "Newest" }).waitFor();
    const before = await page.evaluate(`document.querySelector(".log").scrollTop`);
    await say(10);
    await expect.poll(() => lines.count()).toBe(60);
    expect(await page.evaluate(`document.querySelector(".log").scrollTop`)).toBe(before);
    await page.getByRole("button", { name: "Newest" }).click();
    await expect.poll(() => page.evaluate(toEnd)).toBe(0);
    await page.getByLabel("Follow").click();
    await say(10);
    await reach(talker, "waiting");
    await page.getByLabel("Follow").click();
    await expect.poll(() => lines.count()).toBe(70);
  });

  test("what replays write again is hidden, counted, and shown when it is asked for", async () => {
    const page = await open(stage, "chatty/chatty?tab=logs");
    await page.route("**/instances/chatty/logs*", async (route) => {
      const response = await route.fetch();
      const { logs, ...rest } = await response.json();
      await route.fulfill({ response, json: { ...rest, logs: logs.map(replayed) } });
    });
    await page.reload();
    await page.getByText("Lines of replays (50)").waitFor();
    const lines = page.locator(".log-line .message");
    expect(await lines.count()).toBe(50);
    await page.getByLabel("Lines of replays").check();
    await expect.poll(() => lines.count()).toBe(100);
  });

  test("params and output stand side by side; an error comes with its stack", async () => {
    const dead = await stage.served.app.workflows.failing.create({ id: "data-dead", params: { retries: 0 } });
    await reach(dead, "errored");
    const page = await open(stage, "failing/data-dead?tab=data");
    await page.getByText("retries:").waitFor();
    await page.getByText("Error: The service is out of reach (attempt 1).").first().waitFor();
    expect(await page.locator(".data-columns").getByLabel("Stack").innerText()).toContain(
      "dashboard-workflows.ts",
    );
    expect(await axe(page)).toEqual([]);
    await page.goto(`${stage.served.dashboardUrl}instances/chatty/chatty?tab=data`);
    await page.getByText("240").waitFor();
    // Thrown outside of any step, so no step knows where.
    await reach(await stage.served.app.workflows.doomed.create({ id: "data-doomed" }), "errored");
    await page.goto(`${stage.served.dashboardUrl}instances/doomed/data-doomed?tab=data`);
    await expect
      .poll(() => page.locator(".data-columns").getByLabel("Stack").innerText())
      .toContain("dashboard-workflows.ts");
  });

  test("earlier runs are listed, seen and compared", async () => {
    const { order } = stage.served.app.workflows;
    const instance = await order.create({ id: "runs", params: book });
    await instance.sendEvent({ type: "approved", payload: { by: "Ada" } });
    await instance.result();
    await instance.restart();
    await instance.sendEvent({ type: "approved", payload: { by: "Grace" } });
    await instance.result();
    await instance.restart({ from: "approval" });
    await reach(instance, "waiting", "approval");
    const page = await open(stage, "order/runs");
    await page.locator(".instance-facts").getByRole("link", { name: "3" }).click();
    await page.getByRole("link", { name: "Compare with run 1" }).click();
    await page.waitForURL(/tab=runs&run=1&with=2$/);
    const row = (key: string) => page.locator(".compared tbody tr", { hasText: key });
    await expect.poll(() => row("approval").innerText()).toContain("result changed");
    expect(await axe(page)).toEqual([]);
    await shot(page, `instance-compare-${store}`, { fullPage: true });
    await page.getByRole("link", { name: "Compare with run 2" }).click();
    await expect.poll(() => row("charge").innerText()).toContain("kept");
    await expect.poll(() => row("ship").innerText()).toContain("gone");
    await row("ship").getByRole("link").click();
    await page.waitForURL(/tab=runs&run=2&step=\d+$/);
    await page.getByRole("heading", { name: "Run 2" }).waitFor();
    expect(await page.getByRole("button", { name: "Restart from this step" }).count()).toBe(0);
    await page.getByRole("link", { name: "Its events" }).click();
    await page.getByText("This is run 2. The current one is run 3.").waitFor();
    await page.getByText('"Grace"').waitFor();
    await page.getByRole("link", { name: "Show run 3" }).click();
    await page.getByText("No events yet").waitFor();
    await page.goBack();
    await page.getByText('"Grace"').waitFor();
  });

  test.runIf(store === "sqlite")(
    "every tab is fit for everybody to use, in the dark and on a small screen",
    async () => {
      for (const tab of ["timeline", "events", "logs", "data", "runs&run=1"]) {
        const page = await open(stage, `order/restarted?tab=${tab}`, {
          colorScheme: "dark",
          width: 360,
          height: 740,
        });
        await page.locator(".instance-facts").waitFor();
        await expect.poll(() => page.locator("main [aria-busy=true]").count()).toBe(0);
        expect(await axe(page), tab).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), tab).toBe(true);
        await shot(page, `instance-${tab.split("&")[0]}-${store}-dark-360`, { fullPage: true });
      }
    },
  );
});

/** As if every other line had been written again. */
function replayed(line: object, at: number): object {
  return { ...line, isReplay: at % 2 === 0 };
}

async function open(
  stage: Stage,
  path: string,
  options: Parameters<Stage["openPage"]>[0] = {},
): Promise<Page> {
  const page = await stage.openPage(options);
  await page.goto(`${stage.served.dashboardUrl}instances/${path}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return page;
}
