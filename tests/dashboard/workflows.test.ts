import { expect, test } from "vitest";
import { axe, shot } from "../support/browser.ts";
import { tokens } from "../support/dashboard-app.ts";
import { seedEverything } from "../support/dashboard-seed.ts";
import { onEachStore } from "../support/on-each-store.ts";

onEachStore("workflows", { isOfThePage: true, authorize: "tokens", seed: seedEverything }, (stage) => {
  const { openPage, store } = stage;
  const url = (path: string, token: string = tokens.all): string =>
    `${stage.served.dashboardUrl}${path}#token=${token}`;

  test("a person sees every workflow with its counts, and goes on to the instances behind a number", async () => {
    const page = await openPage();
    await page.goto(url("workflows"));
    await page.getByRole("link", { name: "signup", exact: true }).waitFor();
    await page.getByText("schema for params · no concurrency limit").waitFor();
    expect(await axe(page)).toEqual([]);
    await shot(page, `workflows-${store}`);
    const order = page.locator("li.workflow-row", {
      has: page.getByRole("link", { name: "order", exact: true }),
    });
    await order.getByRole("link", { name: "waiting 2" }).click();
    await page.locator('[data-key="order order-waiting"]').waitFor();
    expect(await page.locator(".row").count()).toBe(2);
    await page.goBack();
    await page.getByRole("link", { name: "Start signup", exact: true }).click();
    await page.getByRole("heading", { name: "signup" }).waitFor();
    expect(await page.getByRole("navigation", { name: "Where this is" }).innerText()).toBe("Workflows");
    const recent = page.getByRole("region", { name: "Recent instances" });
    await recent.getByRole("link", { name: /signup-complete/ }).waitFor();
    expect(await recent.innerText()).toMatch(
      /Success\s+100 %[\s\S]*p50 duration\s+\d+[\s\S]*p95 duration\s+\d+/,
    );
    // Limits are folded.
    expect(await page.getByText("Stall timeout").isVisible()).toBe(false);
  });

  test("a person starts an instance from a form made of the params schema", async () => {
    const page = await openPage();
    await page.goto(url("workflows/signup"));
    await page.getByLabel("email").fill("ada@example.com");
    await page.getByLabel("plan").selectOption("team");
    await page.getByLabel("seats").fill("12");
    await page.getByLabel("isNewsWanted").selectOption("yes");
    await page.getByRole("button", { name: "Add to tags" }).click();
    await page.getByLabel("tags 1", { exact: true }).fill("early");
    await page.getByLabel("street").fill("Main Street 1");
    await page.getByLabel("city").fill("London");
    await page.getByText("More: id, start time, deadline").click();
    await page.getByLabel("Instance id").fill(`form-${store}`);
    await shot(page, `start-form-${store}`, { fullPage: true });
    await page.getByRole("button", { name: "Start" }).click();
    await expect.poll(() => page.url()).toContain(`/instances/signup/form-${store}`);
    expect((await stage.served.app.workflows.signup.at(`form-${store}`).details()).params).toEqual({
      email: "ada@example.com",
      plan: "team",
      seats: 12,
      isNewsWanted: true,
      tags: ["early"],
      address: { street: "Main Street 1", city: "London" },
    });
  });

  test("what is missing or out of range is said at its field, before anything is sent", async () => {
    const page = await openPage();
    await page.goto(url("workflows/signup"));
    await page.getByLabel("seats").fill("501");
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByText("This must be 500 or less.").waitFor();
    expect(await page.getByText("This is needed.").count()).toBe(2);
    await expect
      .poll(() => page.evaluate("document.activeElement?.getAttribute('aria-invalid')"))
      .toBe("true");
    expect(await axe(page)).toEqual([]);
  });

  test("what only the service can tell is said at its field too", async () => {
    const page = await openPage({ mayComplain: [/status of 4\d\d/] });
    await page.goto(url("workflows/signup"));
    await page.getByLabel("email").fill("no address");
    await page.getByLabel("plan").selectOption("free");
    await page.getByRole("button", { name: "Start" }).click();
    await page
      .locator(".field", { has: page.getByLabel("email") })
      .getByText("must be an address")
      .waitFor();
    expect(await page.getByLabel("email").getAttribute("aria-invalid")).toBe("true");
    await shot(page, `start-form-wrong-${store}`);
    // An id that is taken is said at the id.
    await page.getByLabel("email").fill("a@b");
    await page.getByText("More: id, start time, deadline").click();
    await page.getByLabel("Instance id").fill("signup-complete");
    await page.getByRole("button", { name: "Start" }).click();
    await expect.poll(() => page.getByLabel("Instance id").getAttribute("aria-invalid")).toBe("true");
  });

  test("the form and its JSON are the same params, and nothing typed is lost between them", async () => {
    const page = await openPage();
    await page.goto(url("workflows/signup"));
    await page.getByLabel("email").fill("a@b");
    await page.getByLabel("as JSON").click();
    const json = page.getByLabel("Params");
    expect(JSON.parse(await json.inputValue())).toEqual({ email: "a@b", seats: 1, isNewsWanted: false });
    await json.fill('{ "email": "c@d", "other": 1 }');
    await page.getByLabel("as JSON").click();
    await page.getByText("This JSON has parts that the fields cannot show.").waitFor();
    await json.fill('{ "email": "c@d", "plan": "team" }');
    await page.getByLabel("as JSON").click();
    expect(await page.getByLabel("email").inputValue()).toBe("c@d");
  });

  test("without a schema the params are JSON, and broken JSON is not sent", async () => {
    const page = await openPage({ colorScheme: "dark" });
    await page.goto(url("workflows/quick"));
    await page.getByLabel("Params").fill('{ "n": ');
    await page.getByText(/This is not JSON/).waitFor();
    await page.getByRole("button", { name: "Start" }).click();
    expect(await axe(page)).toEqual([]);
    await page.getByText("More: id, start time, deadline").click();
    await page.getByLabel("Instance id").fill(`json-${store}`);
    await page.getByLabel("Start at").fill("2020-01-01T00:00");
    await page.getByLabel("Deadline").fill("2090-01-01T00:00");
    await page.getByLabel("Params").fill('{ "n": [1, null] }');
    await page.getByRole("button", { name: "Start" }).click();
    await expect.poll(() => page.url()).toContain(`/instances/quick/json-${store}`);
    const details = await stage.served.app.workflows.quick.at(`json-${store}`).details();
    expect(details.params).toEqual({ n: [1, null] });
    expect(details.deadlineAt).toEqual(new Date("2090-01-01T00:00:00.000Z"));
  });

  test("who may only look is not offered to start anything", async () => {
    const page = await openPage();
    await page.goto(url("workflows/signup", tokens.readOnly));
    await page.getByText("You may look, but not start instances of this workflow.").waitFor();
    expect(await page.getByRole("button", { name: "Start" }).count()).toBe(0);
  });

  test("a workflow that is not there says so", async () => {
    const page = await openPage({ mayComplain: [/status of 404/] });
    await page.goto(url("workflows/nobody"));
    await page.getByText("There is no such workflow here.").waitFor();
  });

  test.runIf(stage.store === "sqlite").each([
    ["light", 1280],
    ["dark", 360],
  ] as const)("they read well and are accessible in %s, %i px wide", async (colorScheme, width) => {
    const page = await openPage({ colorScheme, width, height: 740 });
    await page.goto(url("workflows"));
    await page.getByRole("link", { name: "signup", exact: true }).waitFor();
    expect(await axe(page)).toEqual([]);
    await shot(page, `workflows-${store}-${colorScheme}-${width}`);
    await page.getByRole("link", { name: "signup", exact: true }).click();
    await page.getByLabel("email").waitFor();
    expect(await axe(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await shot(page, `start-form-${store}-${colorScheme}-${width}`, { fullPage: true });
  });
});
