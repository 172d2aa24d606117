/** Makes the pictures of the README and of docs/dashboard.md: the sample workflows in a real browser. `npm run screenshots` */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { allowAll, createWorkflows } from "everstep";
import { dashboard } from "everstep/dashboard";
import { serve } from "everstep/node";
import { sqlite } from "everstep/sqlite";
import type { Page } from "playwright-core";
import { crashDemo, order } from "../examples/dev/workflows.ts";
import { launchChromium } from "./launch-chromium.ts";

const items = ["book", "lamp", "chair", "clock"] as const;

/** What is on each picture, and how to know that it is all there. */
const pictures: Readonly<Record<string, { readonly path: string; seen(page: Page): Promise<unknown> }>> = {
  overview: { path: "", seen: (page) => page.getByText("answers this page").waitFor() },
  instances: { path: "instances", seen: (page) => page.getByText("approval ← approved").first().waitFor() },
  instance: {
    path: "instances/order/order-1042",
    seen: (page) => page.getByText("cool off").first().waitFor(),
  },
  start: { path: "workflows/order", seen: (page) => page.getByText("p95 duration").waitFor() },
};

const images = fileURLToPath(new URL("../docs/images/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "everstep-screenshots-"));
const app = createWorkflows({
  workflows: { order, crashDemo },
  store: sqlite(join(folder, "shop.db")),
  authorize: allowAll(),
  http: { dashboard },
  onNotice: () => {},
});
mkdirSync(images, { recursive: true });
await app.start();
const server = await serve(app, { port: 0 });
try {
  await fill();
  await takePictures(new URL("dashboard/", server.url).href);
} finally {
  await server.close();
  await app.stop({ grace: 0 });
  rmSync(folder, { recursive: true, force: true });
}

/** Orders in many states. One of them has everything: retries, a sleep, an approval. */
async function fill(): Promise<void> {
  const { workflows } = app;
  const orders = await workflows.order.createBatch(
    Array.from({ length: 12 }, (_, n) => ({
      id: `order-${1042 + n}`,
      params: { item: items[n % 4] ?? "book", amount: 12 + n },
    })),
  );
  await workflows.crashDemo.create({ id: "parcel-7" });
  for (const instance of orders) {
    await until(async () => (await instance.details()).currentStep?.name === "approval");
  }
  for (const instance of orders.slice(0, 8)) {
    await instance.sendEvent({ type: "approved", payload: { by: "kim" } });
    await instance.result();
  }
  await orders[9]?.pause();
  await orders[10]?.terminate({ reason: "ordered twice" });
  await workflows.order.create({ id: "order-1060" });
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 50));
}

async function takePictures(url: string): Promise<void> {
  const browser = await launchChromium();
  for (const colorScheme of ["light", "dark"] as const) {
    const context = await browser.newContext({
      colorScheme,
      viewport: { width: 1280, height: 800 },
      locale: "en-US",
    });
    const page = await context.newPage();
    for (const [name, { path, seen }] of Object.entries(pictures)) {
      await page.goto(url + path);
      await seen(page);
      await page.screenshot({ path: join(images, `${name}-${colorScheme}.png`), animations: "disabled" });
      console.log(`docs/images/${name}-${colorScheme}.png`);
    }
    await context.close();
  }
  await browser.close();
}
