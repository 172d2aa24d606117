import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { describeBrowser } from "../support/browser.ts";
import { type DashboardApp, openDashboardApp } from "../support/dashboard-app.ts";

describeBrowser("the dashboard", ({ openPage }) => {
  let served: DashboardApp | undefined;
  let proxy: Server | undefined;
  afterEach(async () => {
    proxy?.closeAllConnections();
    proxy?.close();
    await served?.close();
    served = proxy = undefined;
  });

  test.each(["", "/api/workflows"])("works under the mount %j, at every address in it", async (basePath) => {
    served = await openDashboardApp(basePath === "" ? {} : { http: { basePath } });
    await served.app.workflows.quick.create({ id: "one" });
    const page = await openPage();
    await page.goto(served.dashboardUrl.replace(/\/$/, ""));
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    expect(page.url()).toBe(served.dashboardUrl);
    await page.goto(`${served.dashboardUrl}instances/quick/one`);
    await page.getByText("one", { exact: true }).first().waitFor();
    await page.getByRole("link", { name: "Topics" }).click();
    await expect.poll(() => page.url()).toBe(`${served?.dashboardUrl}topics`);
  });

  test("works behind a proxy that takes a path away, with links that stay under it", async () => {
    served = await openDashboardApp();
    await served.app.workflows.quick.create({ id: "one" });
    const url = await proxied(served.url);
    const page = await openPage();
    await page.goto(`${url}/tools/flows/dashboard`);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.getByText("Store and guarantees").waitFor();
    await page.goto(`${url}/tools/flows/dashboard/instances/quick/one`);
    await page.getByRole("link", { name: "Workflows" }).click();
    await expect.poll(() => page.url()).toBe(`${url}/tools/flows/dashboard/workflows`);
  });

  /** What comes under /tools/flows goes to the service without it. */
  async function proxied(target: string): Promise<string> {
    const { host } = new URL(target);
    proxy = createServer((incoming, outgoing) => {
      const path = (incoming.url ?? "").replace(/^\/tools\/flows/, "");
      const headers = { ...incoming.headers, host };
      const sent = httpRequest(new URL(path, target), { method: incoming.method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      outgoing.on("close", () => sent.destroy());
      sent.on("error", () => outgoing.destroy());
      incoming.pipe(sent);
    });
    await new Promise<void>((resolve) => proxy?.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  }
});
