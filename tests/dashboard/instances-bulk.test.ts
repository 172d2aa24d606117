import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { axe, shot } from "../support/browser.ts";
import { type DashboardApp, tokens } from "../support/dashboard-app.ts";
import { reach, seedEverything } from "../support/dashboard-seed.ts";
import { onEachStore } from "../support/on-each-store.ts";

onEachStore(
  "many instances at once",
  { isOfThePage: true, authorize: "tokens", seed: seedEverything },
  (stage) => {
    const { openPage, store } = stage;
    const open = async (query: string, token: string = tokens.all): Promise<Page> => {
      // What is refused is part of these stories.
      const page = await openPage({ mayComplain: [/status of 409/] });
      await page.goto(`${stage.served.dashboardUrl}instances${query}#token=${token}`);
      await page.locator(".row").first().waitFor();
      return page;
    };
    const statusOf = async (served: DashboardApp, id: string): Promise<string> =>
      (await served.app.workflows.order.at(id).status()).status;

    test("a person pauses those that can be, sees who was refused and why, and resumes the others", async () => {
      const page = await open("?workflow=order&order=asc");
      await page.getByLabel("Select order-waiting").click();
      await page.getByLabel("Select order-paused").click({ modifiers: ["Shift"] });
      await page.getByText("4 selected", { exact: true }).waitFor();
      const labels = (): Promise<string[]> =>
        page.locator(".selection-bar .buttons").last().getByRole("button").allInnerTexts();
      // One is complete, and one is paused already.
      expect(await labels()).toEqual(["Pause (2)", "Resume (1)", "Restart", "Terminate (3)", "Delete (1)"]);
      // Red is for what ends something for good, as on the page of one instance.
      expect(await page.locator(".selection-bar .danger").allInnerTexts()).toEqual([
        "Terminate (3)",
        "Delete (1)",
      ]);
      await page.getByRole("button", { name: "Pause (2)", exact: true }).click();
      // The question stands in the place of all actions.
      expect(await labels()).toEqual(["Pause 2", "Cancel"]);
      await shot(page, `bulk-asking-${store}`);
      await page.getByRole("button", { name: "Cancel" }).click();
      expect(await statusOf(stage.served, "order-waiting")).toBe("waiting");
      await page.getByRole("button", { name: "Pause (2)", exact: true }).click();
      // It ends before the answer.
      await stage.served.app.workflows.order.at("order-retrying").terminate();
      await page.getByRole("button", { name: "Pause 2", exact: true }).click();
      await page.getByText("1 instance was paused.").waitFor();
      await page.getByText("1 instance refused").waitFor();
      await page.getByText("INSTANCE_TERMINAL").waitFor();
      expect(await statusOf(stage.served, "order-waiting")).toBe("paused");
      expect(await axe(page)).toEqual([]);
      await shot(page, `bulk-${store}`);

      // The summary waits, while the person looks at who was refused.
      await page.locator(".refused-links").getByRole("link", { name: "order-retrying" }).click();
      await expect.poll(() => page.url()).toContain("/instances/order/order-retrying");
      await page.goBack();
      await page.getByText("1 instance was paused.").waitFor();
      await page.getByRole("button", { name: "Dismiss" }).click();
      expect(await page.getByText("1 instance was paused.").count()).toBe(0);

      await page.getByRole("button", { name: /^paused/ }).click();
      await expect.poll(() => page.locator(".row").count()).toBe(2);
      await page.getByLabel("Select all that are loaded").click();
      await page.getByRole("button", { name: "Resume", exact: true }).click();
      await page.getByText("2 instances were resumed.").waitFor();
      // They are not paused any more, so they leave this list.
      await page.getByText("No instance matches these filters.").waitFor();
      await stage.served.app.workflows.order.at("order-paused").pause();
    });

    test("a person retries the failed steps of those that errored, and restarts them", async () => {
      const page = await open("?workflow=failing");
      await page.getByLabel("Select failing-dead").click();
      await page.getByRole("button", { name: "Retry failed step" }).click();
      await page.getByText("1 instance was given another attempt.").waitFor();
      await reach(stage.served.app.workflows.failing.at("failing-dead"), "errored");
      await page.getByLabel("Select failing-dead").click();
      // What has ended cannot be terminated.
      await expect.poll(() => page.getByRole("button", { name: /^Terminate/ }).count()).toBe(0);
      await page.getByRole("button", { name: "Restart", exact: true }).click();
      await page.getByRole("group", { name: "Restart 1 instance from the beginning?" }).waitFor();
      await page.getByRole("button", { name: "Restart 1" }).click();
      await page.getByText("1 instance was restarted.").waitFor();
      expect((await stage.served.app.workflows.failing.at("failing-dead").runs()).length).toBe(2);
    });

    test("terminating asks first, with the number, and everything that matches can be selected", async () => {
      const { sleeper } = stage.served.app.workflows;
      for (const from of [0, 100])
        await sleeper.createBatch(
          Array.from({ length: 100 }, (_, n) => ({
            id: `nap-${from + n}`,
            params: { for: "1 hour" as const },
          })),
        );
      const page = await open("?workflow=sleeper&id=nap-");
      await page.locator(".row input").first().click();
      await page.getByRole("button", { name: "Select all that match" }).click();
      await page.getByText("200 selected", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Terminate", exact: true }).click();
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("button", { name: "Terminate", exact: true }).click();
      await page.getByText("Terminate 200 instances for good?").waitFor();
      await page.getByRole("button", { name: "Terminate 200" }).click();
      await page.getByText("200 instances were terminated.").waitFor();
      expect(await stage.served.app.counts("sleeper")).toMatchObject({ terminated: 200, waiting: 1 });
      await expect.poll(() => page.locator(".row .status").first().innerText()).toBe("terminated");
      await page.locator(".row input").first().click();
      await page.getByRole("button", { name: "Select all that match" }).click();
      await page.getByText("200 selected", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Delete", exact: true }).click();
      await page.getByText("Delete 200 instances with everything recorded of them, for good?").waitFor();
      expect(await axe(page)).toEqual([]);
      await shot(page, `bulk-deleting-${store}`);
      await page.getByRole("button", { name: "Delete 200" }).click();
      await page.getByText("200 instances were deleted.").waitFor();
      expect(await stage.served.app.counts("sleeper")).toMatchObject({ terminated: 0, waiting: 1 });
      await page.getByText("No instance matches these filters.").waitFor();
    });

    test("what is under way can be stopped, and what was not begun is left alone", async () => {
      const page = await open("?workflow=order&order=asc");
      let asked = 0;
      const letOn: (() => void)[] = [];
      await page.route("**/pause", async (route) => {
        asked++;
        await new Promise<void>((resolve) => letOn.push(resolve));
        await route.fulfill({ json: { ok: true } });
      });
      await page.getByLabel("Workflow", { exact: true }).selectOption("");
      await expect.poll(() => page.locator(".row").count()).toBeGreaterThan(10);
      await page.getByLabel("Select all that are loaded").click();
      await page.getByRole("button", { name: /^Pause \(\d+\)$/ }).click();
      await page.getByRole("button", { name: /^Pause \d+/ }).click();
      await page.getByRole("progressbar").waitFor();
      await expect.poll(() => letOn.length).toBe(4);
      await page.getByRole("button", { name: "Stop", exact: true }).click();
      for (const each of letOn) each();
      await page.getByText("4 instances were paused.").waitFor();
      await page.getByText(/Stopped; [\d,]+ instances left alone/).waitFor();
      expect(asked).toBe(4);
    });

    test("who may only look can select, but is offered no action", async () => {
      const page = await open("?workflow=order", tokens.readOnly);
      await page.getByLabel("Select all that are loaded").click();
      await page.getByText("5 selected", { exact: true }).waitFor();
      for (const name of ["Pause", "Resume", "Terminate", "Restart"])
        expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
    });
  },
);
