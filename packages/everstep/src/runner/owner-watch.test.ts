import { expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { createWorkflows } from "../client/create-workflows.ts";
import { createMemoryDatabase, memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { createFaultyStore } from "../testing/faulty-store.ts";
import { TestProcess } from "../testing/test-process.ts";

/** Processes on one store that knows of their deaths. */
function begin() {
  const runtime = createFakeRuntime();
  const database = createMemoryDatabase({ ownership: true });
  const ran: string[] = [];
  const task = defineWorkflow({ name: "task" }, async (_, step) =>
    step.do("work", async () => ran.push("work")),
  );
  const open = () => {
    const process = new TestProcess(runtime);
    const store = createFaultyStore(memory({ database }));
    const app = createWorkflows({
      workflows: { task },
      store: process.connect(store),
      runtime: process.runtime,
    });
    const kill = (owner: string): void => {
      database.owners?.kill(owner);
      process.kill();
    };
    return { app, store, kill };
  };
  const look = () => memory({ database }).getInstance({ workflowName: "task", instanceId: "1" });
  return { runtime, ran, open, look };
}

test("LIV-2 a claim that arrives after its sender was found dead is given to the living soon", async () => {
  const { runtime, ran, open, look } = begin();
  const [dying, living] = [open(), open()];
  await dying.app.start();
  await living.app.start();
  const [late, others] = [dying.store.stopBefore("claim"), living.store.stopBefore("claim")];
  await open().app.workflows.task.create({ id: "1" });
  await runtime.advance("15 seconds");
  const [{ owner }] = (await late.reached).args as [{ owner: string }];
  dying.kill(owner);
  await runtime.advance("2 seconds");
  expect(living.store.count("abandon")).toBeGreaterThan(0);
  await late.continue();
  const claimed = await look();
  expect(claimed).toMatchObject({ executing: true });
  await others.continue();
  expect(await look()).toMatchObject({ executing: true, token: claimed?.token });
  await runtime.advance("5 seconds");
  expect(ran).toEqual(["work"]);
  expect(await look()).toMatchObject({ status: "complete" });
});
