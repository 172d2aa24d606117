import { createClient } from "everstep/client";
import { expect, test } from "vitest";
import { Project } from "./command-line.ts";

test("an app keeps its own store and its own authorization, unless told otherwise", async () => {
  const project = new Project({
    "src/everstep.mts": `
      import { bearerToken, createWorkflows, defineWorkflow } from "everstep";
      import { sqlite } from "everstep/sqlite";
      const quick = defineWorkflow({ name: "quick" }, async (_event, step) => step.do("answer", async () => 42));
      export const app = createWorkflows({
        workflows: { quick },
        store: sqlite("mine.db"),
        authorize: bearerToken("a-token-that-nobody-here-has"),
      });`,
  }).install();
  const asking = await project.dev();
  expect(asking.running.text).toMatch(/ {2}access {5}as the app's own authorize says; --skip-authorize/);
  expect(asking.note.token).toBeUndefined();
  await expect(asking.client.workflows()).rejects.toMatchObject({ code: "UNAUTHORIZED" });
  const known = createClient({
    url: asking.note.url,
    headers: { authorization: "Bearer a-token-that-nobody-here-has" },
  });
  expect(await known.workflows()).toEqual([{ name: "quick" }]);
  asking.running.signal("SIGTERM");
  await asking.running.ended;

  const dev = await project.dev("--skip-authorize");
  expect(dev.running.text).toMatch(/workflows {2}quick \(src\/everstep\.mts\)\n {2}store {6}the app's own/);
  const instance = await dev.client.workflow("quick").create({ id: "q-1" });
  expect(await instance.result()).toMatchObject({ output: 42 });
  await dev.running.says(/✓ quick q-1 {2}"answer" done/);
  expect(project.has("mine.db")).toBe(true);
  expect(project.has(".everstep/dev.db")).toBe(false);

  // The other commands find it by themselves.
  const listed = await project.run("instances", "list");
  expect(listed.text).toMatch(/q-1/);
  expect(listed.exitCode).toBe(0);
});
