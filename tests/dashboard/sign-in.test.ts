import { expect, test } from "vitest";
import { axe, shot } from "../support/browser.ts";
import { type DashboardApp, tokens } from "../support/dashboard-app.ts";
import { seedEverything } from "../support/dashboard-seed.ts";
import { onEachStore } from "../support/on-each-store.ts";

const refusals = { mayComplain: [/status of 40[13]/] };

onEachStore("signing in", { isOfThePage: true, authorize: "tokens", seed: seedEverything }, (stage) => {
  const { openPage, store } = stage;
  const url = (path = ""): string => `${stage.served.dashboardUrl}${path}`;

  test("who has no token is asked for one, and then sees the page they came for", async () => {
    const page = await openPage(refusals);
    await page.goto(url("topics?topic=prices.changed"));
    await page.getByLabel("Token").waitFor();
    expect(await axe(page)).toEqual([]);
    await shot(page, `sign-in-${store}`);
    await page.getByLabel("Token").fill(tokens.all);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "listener-1" }).waitFor();
    expect(page.url()).toBe(url("topics?topic=prices.changed"));
  });

  test("a wrong token is refused in words, and can be entered again", async () => {
    const page = await openPage(refusals);
    await page.goto(url());
    await page.getByLabel("Token").fill("a-token-nobody-gave-out");
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect.poll(() => page.getByRole("alert").innerText()).toContain("This token was not accepted.");
    expect(await page.getByRole("alert").innerText()).toContain(
      "everstep dev makes a new token at each start",
    );
    await page.getByLabel("Token").fill(tokens.all);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  });

  test("the token stays in this tab: kept over a reload, in no address, gone after signing out", async () => {
    const page = await openPage(refusals);
    await page.goto(`${url()}#token=${tokens.all}`);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    expect(page.url()).toBe(url());
    await page.reload();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    expect(await page.evaluate("[localStorage.length, document.cookie]")).toEqual([0, ""]);
    // What is around every view: a theme, help with the keys, and finding an instance by its id.
    await page.getByRole("button", { name: /^Theme: as the system is/ }).click();
    await page.getByRole("button", { name: /^Theme: light/ }).click();
    const scheme = "getComputedStyle(document.documentElement).colorScheme";
    expect(await page.evaluate(scheme)).toBe("dark");
    await page.reload();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    expect(await page.evaluate(scheme)).toBe("dark");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    await page.keyboard.type("sleeper-w");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "sleeper-waiting" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  test.each(["", "topics?topic=prices.changed", "dead-letters"])(
    "a token that may only look sees everything and is offered nothing to change: /%s",
    async (path) => {
      const page = await openPage(refusals);
      await page.goto(`${url(path)}#token=${tokens.readOnly}`);
      await page.getByText("read-only").waitFor();
      await page.getByRole("heading", { level: 1 }).waitFor();
      const offered = page.getByRole("button", { name: /publish|retry|terminate|restart|pause/i });
      await expect.poll(() => offered.count()).toBe(0);
    },
  );
});

onEachStore(
  "a service that nobody may use yet",
  { isOfThePage: true, isRunning: false, authorize: "nobody" },
  (stage) => {
    test("says so, and the line that changes it", async () => {
      const page = await stage.openPage(refusals);
      await page.goto(stage.served.dashboardUrl);
      await page.getByRole("heading", { name: "Nobody may look yet" }).waitFor();
      await expect.poll(() => page.getByRole("alert").innerText()).toContain("authorize: bearerToken");
      expect(await axe(page)).toEqual([]);
    });
  },
);

onEachStore("a service that goes away", { isOfThePage: true }, (stage) => {
  test("is said to be out of reach, and the page goes on by itself when it is back", async () => {
    const served: DashboardApp = stage.served;
    const page = await stage.openPage({
      mayComplain: [/ERR_CONNECTION_REFUSED/, /ERR_EMPTY_RESPONSE/, /ERR_CONNECTION_RESET/],
    });
    await page.goto(served.dashboardUrl);
    await page.getByText("Store and guarantees").waitFor();
    await served.stopServing();
    await page.getByText("CONNECTION_FAILED").first().waitFor({ timeout: 60_000 });
    await served.serveAgain();
    await expect.poll(() => page.getByText("CONNECTION_FAILED").count(), { timeout: 60_000 }).toBe(0);
  });
});
