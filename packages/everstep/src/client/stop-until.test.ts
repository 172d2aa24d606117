import { expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { memory } from "../stores/memory/index.ts";
import { createWorkflows } from "./create-workflows.ts";

const order = defineWorkflow({ name: "order" }, async (_event, step) => step.do("charge", () => "charged"));

test("a stop begins nothing new and serves on until what it waits for has settled", async () => {
  const app = createWorkflows({ workflows: { ORDER: order }, store: memory() });
  await app.start();
  let closed = (): void => {};
  const until = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const stopping = app.stop({ until });
  const late = await app.workflows.ORDER.create({ id: "late" });
  expect(await late.status()).toEqual({ status: "active" });
  closed();
  await stopping;
  await expect(late.status()).rejects.toMatchObject({ code: "APP_STOPPED" });
});

test("what it waits for may fail", async () => {
  const app = createWorkflows({ workflows: { ORDER: order }, store: memory() });
  await app.start();
  expect(await app.stop({ until: Promise.reject(new Error("did not close")) })).toEqual({
    finished: 0,
    released: 0,
  });
});
