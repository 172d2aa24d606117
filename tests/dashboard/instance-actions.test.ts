import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { axe, shot } from "../support/browser.ts";
import { reach } from "../support/dashboard-seed.ts";
import { onEachStore, type Stage } from "../support/on-each-store.ts";

const book = { item: "book", amount: 20 };

onEachStore("steering an instance", { isOfThePage: true }, (stage) => {
  const { openPage, store } = stage;

  test("a person pauses an instance and resumes it", async () => {
    const order = await waitingOrder(stage, "pausing");
    const page = await open(stage, "order/pausing");
    await page.getByRole("button", { name: "Pause" }).click();
    await said(page, "Paused.");
    await whyIs(page, /^Paused now|^Paused \d+ seconds? ago/);
    expect((await order.status()).status).toBe("paused");
    expect(await axe(page)).toEqual([]);
    await page.getByRole("button", { name: "Resume" }).click();
    await said(page, "Resumed.");
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await reach(order, "waiting", "approval");
    // Somebody else, of whom it is known who they are.
    await order.pause({ actor: "ann@example.com" });
    await whyIs(page, /^Paused by ann@example\.com (now|\d+ seconds? ago)/);
    await order.resume({ actor: "ben@example.com" });
    await expect.poll(() => fact(page, "Last action")).toMatch(/^Resumed by ben@example\.com/);
  });

  test.each([1, -1])("a reader whose clock is %d hour off sees the times that are right", async (hours) => {
    const id = `clock-${hours}`;
    await waitingOrder(stage, id);
    const page = await stage.openPage();
    await page.addInitScript((offMs: number) => {
      const Right = Date;
      globalThis.Date = class extends Right {
        constructor(...given: readonly unknown[]) {
          super(...((given.length === 0 ? [Right.now() + offMs] : given) as [number]));
        }
        static override now(): number {
          return Right.now() + offMs;
        }
      } as DateConstructor;
    }, hours * 3_600_000);
    await page.goto(`${stage.served.dashboardUrl}instances/order/${id}`);
    await expect.poll(() => fact(page, "Created")).toMatch(/^(now|\d+ seconds? ago)/);
    // It waits for an hour at most.
    await whyIs(page, /59:\d\d/);
    await page.goto(`${stage.served.dashboardUrl}instances?last=1h`);
    await page.getByText(id, { exact: true }).first().waitFor();
  });

  test("an instance is terminated only after one more question, with the reason that was given", async () => {
    const order = await waitingOrder(stage, "ending");
    const page = await open(stage, "order/ending");
    await page.getByRole("button", { name: "Terminate", exact: true }).click();
    await page.getByLabel("Reason (optional)").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByLabel("Reason (optional)").count()).toBe(0);
    expect((await order.status()).status).toBe("waiting");
    await page.getByRole("button", { name: "Terminate", exact: true }).click();
    await page.getByLabel("Reason (optional)").fill("Nobody wants it.");
    expect(await axe(page)).toEqual([]);
    await shot(page, `instance-terminate-${store}`);
    await page.getByRole("button", { name: "Terminate it" }).click();
    await said(page, "Terminated.");
    await whyIs(page, /Terminated by a person: Nobody wants it\./);
    await expect.poll(() => buttons(page)).toEqual(["Restart", "Fork", "Export history", "Delete"]);
    expect((await order.details()).terminationReason).toMatchObject({ message: "Nobody wants it." });
  });

  test("an instance that has ended is deleted only after one more question, and the list follows", async () => {
    const order = await waitingOrder(stage, "leaving");
    const page = await open(stage, "order/leaving");
    // What goes on is terminated first.
    expect(await page.getByRole("button", { name: "Delete" }).count()).toBe(0);
    await order.terminate();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete it" }).waitFor();
    expect(await axe(page)).toEqual([]);
    await shot(page, `instance-delete-${store}`);
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("button", { name: "Delete it" }).count()).toBe(0);
    expect((await order.status()).status).toBe("terminated");
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete it" }).click();
    await expect.poll(() => page.url()).toMatch(/instances\?workflow=order$/);
    await page.locator(".row").first().waitFor();
    expect(await page.getByText("leaving", { exact: true }).count()).toBe(0);
    await expect(order.status()).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
  });

  test("a restart begins the next run, after a question that says what becomes of this one", async () => {
    const order = await waitingOrder(stage, "again");
    const page = await open(stage, "order/again");
    await page.getByRole("button", { name: "Restart" }).click();
    await page.getByText("as run 2? Run 1 ends where it is.").waitFor();
    await page.getByRole("button", { name: "Restart it" }).click();
    await said(page, "Restarted as run 2.");
    await expect.poll(() => fact(page, "Run")).toBe("2");
    await reach(order, "waiting", "approval");
  });

  test("a run is begun again from one of its steps, and what was before it is kept", async () => {
    const order = await waitingOrder(stage, "from-step");
    const charge = (await order.history()).steps.find(({ name }) => name === "charge");
    const page = await open(stage, `order/from-step?step=${charge?.index}`);
    await page.getByRole("button", { name: "Restart from this step" }).click();
    await page.getByText(/Restart from "charge"\? What was recorded before it is kept/).waitFor();
    await page.getByRole("button", { name: "Restart it" }).click();
    await said(page, "Restarted as run 2.");
    await reach(order, "waiting", "approval");
    const [before, after] = [await order.history({ runNumber: 1 }), await order.history()];
    const began = (history: typeof before, name: string) =>
      history.steps.find((step) => step.name === name)?.createdAt.getTime();
    expect(began(after, "reserve")).toBe(began(before, "reserve"));
    expect(began(after, "charge")).not.toBe(began(before, "charge"));
  });

  test("a fork is made from the beginning or from a step, and the page goes to it", async () => {
    await waitingOrder(stage, "source");
    const page = await open(stage, "order/source");
    await page.getByRole("button", { name: "Fork", exact: true }).click();
    await page.getByLabel("Id of the new instance (optional)").fill("source");
    await page.getByRole("button", { name: "Fork it" }).click();
    // One that exists is not touched, and that is said beside the button.
    await expect.poll(() => page.getByRole("alert").innerText()).toContain("INSTANCE_ID_ALREADY_EXISTS");
    await page.getByLabel("Id of the new instance (optional)").fill("copy-1");
    await page.getByRole("button", { name: "Fork it" }).click();
    await page.waitForURL(/\/instances\/order\/copy-1$/);
    await page.getByRole("heading", { level: 1, name: "copy-1" }).waitFor();
    const copy = stage.served.app.workflows.order.at("copy-1");
    await reach(copy, "waiting", "approval");
    const approval = (await copy.details()).currentStep?.index;
    await page.goto(`${stage.served.dashboardUrl}instances/order/copy-1?step=${approval}`);
    await page.getByRole("button", { name: "Fork from this step" }).click();
    await page.getByRole("button", { name: "Fork it" }).click();
    await page.waitForURL((url) => /\/order\/[0-9a-f-]{36}$/.test(url.pathname));
    await whyIs(page, /approval waits for event approvedtimes out in \d+:\d\d at/);
  });

  test("a failed step gets another attempt, now or later", async () => {
    const dead = await stage.served.app.workflows.failing.create({ id: "dead", params: {} });
    await reach(dead, "errored");
    const page = await open(stage, "failing/dead");
    await page.getByText("dead letter", { exact: true }).waitFor();
    const panel = page.getByRole("region", { name: "Why it failed" });
    await expect.poll(() => panel.innerText()).toContain("The service is out of reach");
    expect(await panel.innerText()).toMatch(/call, attempt 3 of 3/);
    // The author's own frame, not the engine's; of what has ended nothing is said to live.
    expect(await panel.locator(".error-frame").innerText()).toContain("dashboard-workflows.ts");
    expect(await page.getByText("live", { exact: true }).count()).toBe(0);
    await panel.getByRole("link", { name: "Open step" }).click();
    await page.getByRole("region", { name: "Step call" }).waitFor();
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Retry failed step" }).click();
    await page.getByRole("button", { name: "Retry it" }).click();
    await said(page, "The failed step is tried again.");
    await expect
      .poll(async () => (await dead.history()).steps.find(({ name }) => name === "call")?.attempts)
      .toBe(4);
    await reach(dead, "errored");
    await page.getByRole("button", { name: "Retry failed step" }).click();
    await page.getByLabel("When").selectOption("5 minutes");
    await page.getByRole("button", { name: "Retry it" }).click();
    await said(page, "The failed step is tried again in 5 minutes.");
    await page.locator(".countdown", { hasText: /^4:5\d$|^5:00$/ }).waitFor();
  });

  test("a sleep is counted down, and skipped", async () => {
    const sleeper = await stage.served.app.workflows.sleeper.create({ id: "nap", params: { for: "1 hour" } });
    await reach(sleeper, "waiting", "nap");
    const page = await open(stage, "sleeper/nap", { colorScheme: "dark", width: 360, height: 740 });
    const clock = page.locator(".countdown");
    const first = await clock.innerText();
    expect(first).toMatch(/^59:\d\d$|^1:00:00$/);
    await expect.poll(() => clock.innerText()).not.toBe(first);
    expect(await axe(page)).toEqual([]);
    await shot(page, `instance-sleep-${store}-dark-360`, { fullPage: true });
    await page.getByRole("button", { name: "Skip sleep" }).click();
    await said(page, "The sleep was skipped.");
    expect(await sleeper.result()).toMatchObject({ output: "rested" });
    await expect.poll(() => clock.count()).toBe(0);
  });

  test("the wait for a retry is counted down", async () => {
    const params = { ...book, failures: 1, retryDelay: "30 minutes" } as const;
    const order = await stage.served.app.workflows.order.create({ id: "retrying", params });
    await reach(order, "waiting", "charge");
    const page = await open(stage, "order/retrying");
    await whyIs(page, /charge failed, attempt 2 of 6 follows.*The bank did not answer/);
    await page.locator(".countdown", { hasText: /^29:\d\d$/ }).waitFor();
    // One wait, told once.
    expect(await page.locator("main").innerText()).not.toMatch(/Due|tried again in/);
  });

  test("what it is at is said once, and no longer than it is so", async () => {
    const held = await stage.served.app.workflows.held.create({ id: "moving" });
    await reach(held, "active", "hold");
    const page = await open(stage, "held/moving");
    await whyIs(page, /hold is running for \d/);
    stage.served.gates.open("moving");
    await page.locator(".instance-facts dt", { hasText: "Ended" }).waitFor();
    expect(await page.locator(".why").textContent()).toBe("");
  });

  test("the history of a run is downloaded as one document", async () => {
    await waitingOrder(stage, "exported");
    const page = await open(stage, "order/exported");
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export history" }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe("order-exported-run-1.json");
    const document = JSON.parse(readFileSync(await download.path(), "utf8"));
    const { exportedAt: _, ...expected } = await stage.served.app.workflows.order
      .at("exported")
      .exportHistory();
    expect(document).toMatchObject(expected);
    await said(page, "Exported.");
  });

  test("a connection that drops is said, and what is shown is live again when it is back", async () => {
    await stage.served.app.workflows.held.create({ id: "dropping" });
    const page = await open(stage, "held/dropping", { mayComplain: [/ERR_/] });
    await page.getByText("live", { exact: true }).waitFor();
    await whyIs(page, /hold is running for/);
    await stage.served.stopServing();
    await page.getByText("reconnecting").waitFor();
    // Nothing is said that may not be so any more.
    await whyIs(page, /The server is out of reach; what is below may be old.*hold was running/);
    // Nobody knows whether it still runs: it is not counted on, and cannot be steered.
    await page.locator(".timeline.is-still").waitFor();
    for (const name of ["Pause", "Restart", "Terminate"])
      expect(await page.getByRole("button", { name }).isDisabled()).toBe(true);
    const took = page.locator(".tl-row.s-running .tl-took");
    const [before, label] = [await took.textContent(), await page.locator(".tl-total").textContent()];
    await shot(page, "instance-out-of-reach");
    expect([await took.textContent(), await page.locator(".tl-total").textContent()]).toEqual([
      before,
      label,
    ]);
    await stage.served.serveAgain();
    await page.getByText("live", { exact: true }).waitFor();
    await expect.poll(() => took.textContent()).not.toBe(before);
    await stage.served.app.workflows.held.at("dropping").pause();
    await page.getByRole("button", { name: "Resume" }).waitFor();
    stage.served.gates.open("dropping");
  });

  test("an instance whose start is still to come says when, and begins before that if it is told to", async () => {
    const startAt = Date.now() + 2 * 86_400_000;
    await stage.served.app.workflows.order.create({ id: "later", params: book, startAt });
    const page = await open(stage, "order/later");
    await whyIs(page, /Scheduled, starts in 2 days/);
    await page.locator('[data-part="scheduled"]').waitFor();
    expect(await axe(page)).toEqual([]);
    await shot(page, `instance-scheduled-${store}`);
    await page.getByRole("button", { name: "Start now" }).click();
    await whyIs(page, /waits for event approved/);
  });

  test("an instance that another one started leads to that one", async () => {
    const { parent, child } = stage.served.app.workflows;
    await parent.create({ id: "mother", params: { children: 1, holds: true } });
    await expect.poll(() => child.list({ idPrefix: "mother-" }).then(({ items }) => items.length)).toBe(1);
    const page = await open(stage, "child/mother-child-1");
    await page.getByRole("link", { name: /mother$/ }).click();
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/\/instances\/parent\/mother$/);
    // And back, through the tree.
    await page.getByRole("link", { name: "Family" }).click();
    await page.getByRole("link", { name: "mother-child-1", exact: true }).click();
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/\/instances\/child\/mother-child-1$/);
    await page.getByRole("link", { name: "Family" }).click();
    const tree = page.getByRole("list", { name: "Parents and children" });
    await expect.poll(() => tree.innerText()).toMatch(/mother[\s\S]*mother-child-1/);
    expect(await axe(page)).toEqual([]);
  });

  test("an instance that is not there is said to be so, with a way to those that are", async () => {
    const page = await openPage({ mayComplain: [/status of 404/] });
    await page.goto(`${stage.served.dashboardUrl}instances/order/nobody`);
    await page.getByText("There is no such instance.").waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole("link", { name: "Instances of this workflow" }).click();
    await page.waitForURL(/instances\?workflow=order$/);
    // Of a workflow that is not there either nothing is said to be missing but the instance.
    await page.goto(`${stage.served.dashboardUrl}instances/nothing/nobody`);
    await page.getByText("There is no such instance.").waitFor();
    expect(await page.getByText("No code for workflow").count()).toBe(0);
  });
});

async function waitingOrder({ served }: Stage, id: string) {
  const order = await served.app.workflows.order.create({ id, params: book });
  await reach(order, "waiting", "approval");
  return order;
}

async function open(
  stage: Stage,
  path: string,
  options: Parameters<Stage["openPage"]>[0] = {},
): Promise<Page> {
  const page = await stage.openPage({ mayComplain: [/status of 409/], ...options });
  await page.goto(`${stage.served.dashboardUrl}instances/${path}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return page;
}

async function said(page: Page, text: string): Promise<void> {
  await page.locator(".said", { hasText: text }).waitFor();
}

async function whyIs(page: Page, pattern: RegExp): Promise<void> {
  await page.locator(".why", { hasText: pattern }).waitFor();
}

function fact(page: Page, name: string): Promise<string> {
  return page.locator(".instance-facts > div", { hasText: name }).first().locator("dd").innerText();
}

function buttons(page: Page): Promise<string[]> {
  return page.locator(".actions .buttons button").allInnerTexts();
}
