import { expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { createWorkflows } from "../client/create-workflows.ts";
import { memory } from "../stores/memory/index.ts";

test("un-awaited failing step, engine alone", async () => {
  const seen: unknown[] = [];
  process.on("unhandledRejection", (e) => seen.push(e));
  const wf = defineWorkflow({ name: "w" }, async (_e, step) => {
    void step.do("fails", { retries: false }, async () => {
      throw new Error("x");
    });
    await step.do("b", async () => {
      await new Promise((r) => setTimeout(r, 20));
    });
  });
  const app = createWorkflows({ workflows: { W: wf }, store: memory() });
  await app.workflows.W.create({ id: "a" });
  await app.tick();
  await new Promise((r) => setTimeout(r, 50));
  console.log("unhandled", seen, await (await app.workflows.W.get("a")).status());
});
