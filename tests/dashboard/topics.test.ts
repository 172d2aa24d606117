import { expect, test } from "vitest";
import { axe, shot } from "../support/browser.ts";
import { reach, seedEverything } from "../support/dashboard-seed.ts";
import { onEachStore } from "../support/on-each-store.ts";

onEachStore("topics", { seed: seedEverything }, (stage) => {
  const { openPage, store } = stage;

  test("a person sees who waits on a topic, publishes to it, and learns how many it reached", async () => {
    const page = await openPage();
    await page.goto(`${stage.served.dashboardUrl}topics`);
    await page.getByRole("link", { name: "prices.changed 2 waiters" }).click();
    await page.getByRole("link", { name: "listener-1" }).waitFor();
    await page.getByRole("link", { name: "listener-2" }).waitFor();
    expect(await axe(page)).toEqual([]);
    await shot(page, `topics-${store}`);
    await page.getByLabel("Payload").fill('{ "price": 12 }');
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByText("It reached 2 waiters.").waitFor();
    const { output } = await stage.served.app.workflows.listener.at("listener-1").result();
    expect(output).toEqual({ heard: { price: 12 } });
    await page.getByText("No subscribers", { exact: true }).waitFor();
    await page.getByText("No subscribers on any topic").waitFor();
  });

  test("who has been reached already is told from those who still wait", async () => {
    const { app } = stage.served;
    const reached = await app.workflows.listener.create({ id: "reached", params: { topic: "held.news" } });
    await reach(reached, "waiting", "news");
    // It keeps its event until it goes on.
    await reached.pause();
    await app.publish("held.news", { price: 5 });
    const page = await stage.openPage();
    await page.goto(`${stage.served.dashboardUrl}topics?topic=held.news`);
    await expect
      .poll(() => page.getByRole("row", { name: /reached/ }).innerText())
      .toContain("has its event");
    await reached.terminate();
  });

  test("a payload that is no JSON is not sent, and the mistake is said at the field", async () => {
    const page = await openPage({ colorScheme: "dark", width: 360 });
    await page.goto(`${stage.served.dashboardUrl}topics?topic=prices.changed`);
    await page.getByLabel("Payload").fill("{ price: 12 }");
    await page.getByText(/This is not JSON/).waitFor();
    expect(await page.getByRole("button", { name: "Publish" }).isDisabled()).toBe(true);
    expect(await axe(page)).toEqual([]);
    await shot(page, `topics-${store}-dark-360`, { fullPage: true });
  });

  test("a topic that cannot be one is refused with the server's own words", async () => {
    const page = await openPage({ mayComplain: [/status of 400/] });
    await page.goto(`${stage.served.dashboardUrl}topics`);
    await page.getByLabel("Topic", { exact: true }).fill("prices now");
    await page.getByRole("button", { name: "Publish" }).click();
    await expect.poll(() => page.getByRole("alert").innerText()).toContain("INVALID_TOPIC");
  });
});
