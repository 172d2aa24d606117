import { expect, test } from "vitest";
import { Project } from "./command-line.ts";

test("an app keeps its own store, and is open to this machine although it asks others for a token", async () => {
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
  const dev = await project.dev();
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
