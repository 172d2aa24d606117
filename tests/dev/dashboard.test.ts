import { beforeAll, expect, test } from "vitest";
import { ensureDashboard } from "../../scripts/dashboard.mjs";
import { Project } from "./command-line.ts";

beforeAll(() => ensureDashboard(), 120_000);

test("the dashboard is the first thing that is named, and its page and scripts are there", async () => {
  const source =
    'import { defineWorkflow } from "everstep";\nexport const a = defineWorkflow({ name: "a" }, () => 1);';
  const project = new Project({ "workflows.ts": source }).install();
  const dev = await project.dev();
  const { url, token } = dev.note;
  const [, first, second] = /^everstep dev {2}(\S+)\n {2}api {8}(\S+)\n/.exec(dev.running.text) ?? [];
  expect([first, second]).toEqual([`${url}dashboard/#token=${token}`, url]);
  expect((await fetch(new URL("overview", url))).status).toBe(401);
  const page = await fetch(url);
  expect([page.status, page.url]).toEqual([200, `${url}dashboard/`]);
  const scripts = [...(await page.text()).matchAll(/(?:src|href)="(\.\/[^"]+\.(?:js|css))"/g)];
  expect(scripts.length).toBeGreaterThan(0);
  for (const [, path = ""] of scripts) {
    const file = await fetch(new URL(path, page.url));
    expect([file.status, file.headers.get("cache-control")]).toEqual([
      200,
      "public, max-age=31536000, immutable",
    ]);
  }
});

const app = `
import { bearerToken, createWorkflows, defineWorkflow } from "everstep";
import { sqlite } from "everstep/sqlite";
const order = defineWorkflow({ name: "order" }, async () => 1);
export default createWorkflows({
  workflows: { order },
  store: sqlite("app.db"),
  authorize: bearerToken("secret-of-sixteen-letters"),
});`;

test("the dashboard is served where that is asked for, with the app's own authorization", async () => {
  const project = new Project({ "app.ts": app }).install();
  const running = project.start("serve", "app.ts", "--port", "0", "--dashboard");
  const [, url = ""] = await running.says(/Dashboard on (\S+dashboard\/)\./);
  const page = await fetch(url);
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect((await fetch(new URL("../overview", url))).status).toBe(401);

  const without = project.start("serve", "app.ts", "--port", "0");
  const [, bare = ""] = await without.says(/Serving order on (\S+) /);
  expect((await fetch(new URL("dashboard/", bare))).status).toBe(404);
  expect((await fetch(new URL("_dev/kill", url.replace("dashboard/", "")), { method: "POST" })).status).toBe(
    404,
  );
});

test("where it is not built, dev says in one line how to and goes on without; serve refuses", async () => {
  const project = new Project({
    "app.ts": app,
    "hidden.mjs": `
      import { registerHooks } from "node:module";
      const resolve = (name, context, next) =>
        next(name === "everstep-dashboard" ? "everstep-dashboard-of-nobody" : name, context);
      registerHooks({ resolve });`,
  }).install();
  project.env.NODE_OPTIONS = "--import ./hidden.mjs";
  const dev = await project.dev("app.ts", "--skip-authorize");
  await dev.running.says(/^The dashboard is not built, .*: npm run build -w everstep-dashboard$/m);
  expect(dev.running.text).not.toContain("/dashboard/");
  expect((await fetch(new URL("dashboard/", dev.note.url))).status).toBe(404);
  expect(await dev.client.workflows()).toEqual([{ name: "order" }]);

  const { exitCode, text } = await project.run("serve", "app.ts", "--dashboard", "--port", "0");
  expect([exitCode, text]).toEqual([70, expect.stringContaining("npm run build -w everstep-dashboard")]);
});
