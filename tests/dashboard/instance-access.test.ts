import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Authorize, allowAll, createWorkflows, defineWorkflow, refuse } from "everstep";
import { dashboard } from "everstep/dashboard";
import { serve } from "everstep/node";
import { sqlite } from "everstep/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { axe, describeBrowser, shot } from "../support/browser.ts";
import { type DashboardApp, tokens } from "../support/dashboard-app.ts";
import { reach, seedEverything } from "../support/dashboard-seed.ts";
import { onEachStore } from "../support/on-each-store.ts";

const refusals = { mayComplain: [/status of 40[134]/] };

const paths = [
  "order/order-waiting",
  "order/order-waiting?tab=events",
  "order/order-paused",
  "failing/failing-dead",
  "sleeper/sleeper-waiting?step=0",
];
const changes = /pause|resume|restart|fork|terminate|retry|skip sleep|send|kill/i;

onEachStore(
  "an instance for who may only look",
  { isOfThePage: true, authorize: "tokens", seed: seedEverything },
  (stage) => {
    test("everything is seen, and nothing is offered that would be refused", async () => {
      const page = await stage.openPage(refusals);
      await page.goto(`${stage.served.dashboardUrl}#token=${tokens.readOnly}`);
      await page.getByText("read-only").waitFor();
      for (const path of paths) {
        await page.goto(`${stage.served.dashboardUrl}instances/${path}`);
        await page.locator(".instance-facts").waitFor();
        // Reading is allowed, and an export only reads.
        await page.getByRole("button", { name: "Export history" }).waitFor();
        expect(await page.getByRole("button", { name: changes }).allInnerTexts(), path).toEqual([]);
        expect(await page.getByRole("link", { name: "Send event" }).count(), path).toBe(0);
      }
    });
  },
);

/** Which tokens are known is decided anew for each request. */
const known = new Set<string>();
const changing: Authorize = {
  request({ request }) {
    const token = request.headers.get("authorization")?.slice("Bearer ".length) ?? "";
    return known.has(token) ? undefined : refuse(401, "This token is not known here.");
  },
  read: () => {},
  instanceCreation: () => {},
  sendEvent: () => {},
  management({ workflowName }) {
    return workflowName === "sleeper" ? refuse(403, "Sleepers are left alone.") : undefined;
  },
};

/** One that may be steered, and one that may not. */
async function seed({ app }: DashboardApp): Promise<void> {
  const order = await app.workflows.order.create({ id: "signed", params: { item: "book", amount: 20 } });
  const sleeper = await app.workflows.sleeper.create({ id: "left", params: { for: "1 hour" } });
  await Promise.all([reach(order, "waiting", "approval"), reach(sleeper, "waiting", "nap")]);
}

onEachStore("an instance for who has a token", { isOfThePage: true, authorize: changing, seed }, (stage) => {
  test("a token that is taken back in the middle leads to signing in, and back to the same page", async () => {
    known.add("the-first-token");
    const page = await stage.openPage(refusals);
    const url = `${stage.served.dashboardUrl}instances/order/signed?tab=runs&run=1`;
    await page.goto(`${url}#token=the-first-token`);
    await page.getByRole("heading", { name: "Run 1" }).waitFor();
    known.delete("the-first-token");
    known.add("the-second-token");
    await page.getByLabel("Token").waitFor();
    expect(await page.getByText("signed").count()).toBe(0);
    await page.getByLabel("Token").fill("the-second-token");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Run 1" }).waitFor();
    expect(page.url()).toBe(url);
  });

  test("what may be done is asked for each workflow", async () => {
    known.add("the-second-token");
    const page = await stage.openPage(refusals);
    await page.goto(`${stage.served.dashboardUrl}instances/sleeper/left#token=the-second-token`);
    await expect.poll(() => page.locator(".actions button").allInnerTexts()).toEqual(["Export history"]);
    await page.goto(`${stage.served.dashboardUrl}instances/order/signed`);
    await page.getByRole("button", { name: "Pause" }).waitFor();
  });

  test("what is refused all the same is said beside the button that was pressed", async () => {
    known.add("the-second-token");
    const page = await stage.openPage(refusals);
    await page.route("**/access?*", (route) =>
      route.fulfill({ json: { instanceCreation: true, management: true, sendEvent: true } }),
    );
    await page.goto(`${stage.served.dashboardUrl}instances/sleeper/left#token=the-second-token`);
    await page.getByRole("button", { name: "Pause" }).click();
    await expect
      .poll(() => page.locator(".actions").getByRole("alert").innerText())
      .toContain("Sleepers are left alone.");
  });
});

describeBrowser("an instance whose workflow is no longer registered", ({ openPage }) => {
  test("is shown as any other, with the reason why it does not go on", async () => {
    const folder = mkdtempSync(join(tmpdir(), "everstep-dashboard-"));
    const store = join(folder, "app.db");
    const gone = defineWorkflow<{ note: string }>({ name: "gone" }, async (_event, step) =>
      step.sleep("nap", "1 hour"),
    );
    const here = defineWorkflow({ name: "here" }, async () => {});
    const settings = { authorize: allowAll(), onNotice: () => {}, onProblem: () => {} };
    const before = createWorkflows({ workflows: { gone }, store: sqlite(store), ...settings });
    await before.start();
    await reach(
      await before.workflows.gone.create({ id: "left-over", params: { note: "hm" } }),
      "waiting",
      "nap",
    );
    await before.stop();
    const app = createWorkflows({
      workflows: { here },
      store: sqlite(store),
      ...settings,
      http: { dashboard },
    });
    await app.start();
    const served = await serve(app, { port: 0 });
    onTestFinished(async () => {
      await served.close();
      await app.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    const page = await openPage(refusals);
    await page.goto(new URL("dashboard/instances/gone/left-over", served.url).href);
    await page.getByText(/No code for workflow gone is registered/).waitFor();
    await page.getByText("waiting", { exact: true }).first().waitFor();
    await page.getByText("nap").first().waitFor();
    expect(await axe(page)).toEqual([]);
    await shot(page, "instance-unregistered");
    await page.goto(new URL("dashboard/instances/gone/left-over?tab=data", served.url).href);
    await page.getByText('"hm"').waitFor();
  });
});
