import { createClient } from "everstep/client";
import { expect, test } from "vitest";
import { Project } from "./command-line.ts";

const app = (authorize: string): string => `
import { allowAll, bearerToken, createWorkflows, defineWorkflow } from "everstep";
import { sqlite } from "everstep/sqlite";
export const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  await step.do("one", async () => {
    console.log("one began");
    await new Promise((resolve) => process.once("SIGUSR2", resolve));
  });
  await step.do("two", async () => console.log("two began"));
});
export default createWorkflows({ workflows: { order }, store: sqlite("app.db"), ${authorize} });`;

test("an app is served to who may use it, and SIGTERM lets it finish what is in flight", async () => {
  const project = new Project({
    "app.ts": app('authorize: bearerToken("secret-of-sixteen-letters")'),
  }).install();
  const running = project.start("serve", "app.ts", "--port", "0", "--host", "0.0.0.0");
  const [, url = ""] = await running.says(/Serving order on (\S+) /);
  await running.says(/Other machines can reach it: it listens on all addresses \(0\.0\.0\.0\)\./);
  await expect(createClient({ url }).workflows()).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  const client = createClient({ url, headers: { authorization: "Bearer secret-of-sixteen-letters" } });
  await client.workflow("order").create({ id: "o-1" });
  await running.says(/one began/);

  running.signal("SIGTERM");
  await running.says(/Stopping/);
  expect((await fetch(new URL("readyz", url))).status).toBe(503);
  running.signal("SIGUSR2");
  await running.says(/Stopped: 1 finished, 0 given back/);
  expect(await running.ended).toBe(0);
  expect(running.text).not.toContain("two began");
});

test("an app that everybody may use is not served to other machines", async () => {
  const project = new Project({ "app.ts": app("authorize: allowAll()") }).install();
  const { exitCode, text } = await project.run("serve", "app.ts", "--host", "0.0.0.0", "--port", "0");
  expect(text).toContain("Everybody may do everything with this app");
  expect(exitCode).toBe(70);
});

test("an app without authorization is served, with a warning that nobody may use it", async () => {
  const project = new Project({ "app.ts": app("") }).install();
  const running = project.start("serve", "app.ts", "--port", "0");
  await running.says(/Nobody may use its HTTP API yet/);
});

test("a file without an app is refused", async () => {
  const project = new Project({
    "app.ts":
      'import { defineWorkflow } from "everstep";\nexport const a = defineWorkflow({ name: "a" }, () => 1);',
  }).install();
  const { exitCode, text } = await project.run("serve", "app.ts");
  expect(text).toContain("app.ts exports workflows but no app");
  expect(exitCode).toBe(70);
});
