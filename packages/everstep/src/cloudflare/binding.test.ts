import { afterEach, beforeEach, expect, test } from "vitest";
import type { App } from "../client/app.ts";
import { createWorkflows } from "../client/create-workflows.ts";
import { memory } from "../stores/memory/index.ts";
import type { WorkflowEvent, WorkflowInstance, WorkflowStep } from "./index.ts";
import { createBinding, defineEntrypoint, type Workflow, WorkflowEntrypoint } from "./index.ts";

type Params = { readonly does?: string };

let ran: string[];
let aborted: boolean;

class Example extends WorkflowEntrypoint<unknown, Params> {
  override async run({ payload }: WorkflowEvent<Params>, step: WorkflowStep): Promise<unknown> {
    switch (payload.does) {
      case "fail":
        throw new RangeError("too far");
      case "sleep":
        await step.sleep("night", "1 hour");
        return "slept";
      case "work":
        return step.do("work", async ({ signal }) => {
          ran.push("work");
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          aborted = true;
        });
      case "steps":
        for (const name of ["a", "b", "a"]) await step.do(name, async () => ran.push(name));
        return ran.length;
      case "wait":
        return (await step.waitForEvent("approval", { type: "approved" })).payload;
      default:
        return { at: new Date(0), big: 5n, none: undefined };
    }
  }
}

let app: App;
let workflow: Workflow<Params>;

beforeEach(async () => {
  ran = [];
  aborted = false;
  const example = defineEntrypoint({ name: "example" }, Example);
  const started = createWorkflows({ workflows: { EXAMPLE: example }, store: memory() });
  workflow = createBinding(started, "EXAMPLE");
  app = started as unknown as App;
  await app.start();
});

afterEach(() => app.stop({ grace: 0 }));

async function create(does?: string, id = "a"): Promise<WorkflowInstance> {
  return workflow.create({ id, params: does === undefined ? {} : { does } });
}

/** Until the instance shows this status. */
async function until(instance: WorkflowInstance, status: string): Promise<void> {
  await expect.poll(async () => (await instance.status()).status, { timeout: 60_000 }).toBe(status);
}

test("a complete instance shows its output as JSON has it", async () => {
  const instance = await create();
  await until(instance, "complete");
  expect(await instance.status()).toEqual({
    status: "complete",
    output: { at: "1970-01-01T00:00:00.000Z", big: "5" },
  });
});

test("an errored instance shows name and message, nothing else", async () => {
  const instance = await create("fail");
  await until(instance, "errored");
  expect(await instance.status()).toEqual({
    status: "errored",
    error: { name: "RangeError", message: "too far" },
  });
});

test("a working instance is running, a sleeping one is waiting", async () => {
  const working = await create("work");
  await expect.poll(() => ran).toEqual(["work"]);
  expect(await working.status()).toEqual({ status: "running" });
  await until(await create("sleep", "b"), "waiting");
});

test("pause and resume have no effect on an instance that has ended, terminate is refused", async () => {
  const instance = await create();
  await until(instance, "complete");
  await instance.pause();
  await instance.resume();
  expect(await instance.status()).toMatchObject({ status: "complete" });
  await expect(instance.terminate()).rejects.toThrow("is complete and can no longer be terminated");
});

test("a paused instance shows it, and goes on after resume", async () => {
  const instance = await create("wait");
  await until(instance, "waiting");
  await instance.pause();
  await instance.sendEvent({ type: "approved", payload: { by: "Ada" } });
  expect(await instance.status()).toEqual({ status: "paused" });
  await instance.resume();
  await until(instance, "complete");
  expect(await instance.status()).toMatchObject({ output: { by: "Ada" } });
});

test("terminate ends an instance; a rollback, which nobody could carry out, is refused", async () => {
  const instance = await create("sleep");
  await expect(instance.terminate({ rollback: true })).rejects.toThrow("rollback handlers are not supported");
  await instance.terminate();
  expect(await instance.status()).toEqual({ status: "terminated" });
});

test("restart runs everything again, or from an occurrence of a step on", async () => {
  const instance = await create("steps");
  await until(instance, "complete");
  await instance.restart({ from: { name: "a", count: 2, type: "do" } });
  await expect.poll(() => ran).toEqual(["a", "b", "a", "a"]);
  await until(instance, "complete");
  await instance.restart();
  await expect.poll(() => ran.length).toBe(7);
  await expect(instance.restart({ from: { name: "c" } })).rejects.toThrow("(instance.cannot_restart)");
});

test("delete stops the steps in flight, removes everything and frees the id", async () => {
  const instance = await create("work");
  await expect.poll(() => ran).toEqual(["work"]);
  await instance.delete();
  await expect.poll(() => aborted).toBe(true);
  await expect(instance.status()).rejects.toThrow("(instance.not_found)");
  await expect(instance.delete()).rejects.toThrow("(instance.not_found)");
  await until(await create(undefined, instance.id), "complete");
});

test("a finished instance can be deleted, too", async () => {
  const instance = await create();
  await until(instance, "complete");
  await instance.delete();
  await expect(workflow.get("a")).rejects.toThrow("(instance.not_found)");
});

test("an id that is taken, unknown or not allowed is said in words that code looks for", async () => {
  await create();
  await expect(create()).rejects.toMatchObject({ name: "WorkflowError", code: "INSTANCE_ID_ALREADY_EXISTS" });
  await expect(create()).rejects.toThrow("(instance.already_exists)");
  await expect(workflow.get("b")).rejects.toThrow("(instance.not_found)");
  await expect(workflow.create({ id: "not allowed" })).rejects.toMatchObject({ name: "WorkflowError" });
});

test("a batch needs no ids, and skips those that exist", async () => {
  await create();
  const created = await workflow.createBatch([{ id: "a" }, { id: "b" }, {}, {}]);
  expect(created).toHaveLength(3);
  expect(created[0]?.id).toBe("b");
  await expect(workflow.createBatch("ab" as never)).rejects.toThrow("takes an array");
});

test("the longer of two retentions is kept", async () => {
  const retention = { successRetention: "3 days", errorRetention: "1 hour" };
  const [first] = await workflow.createBatch([{ id: "a", retention }]);
  await until(first as WorkflowInstance, "complete");
  const details = await (await app.workflows.EXAMPLE?.get("a"))?.details();
  expect(Number(details?.retentionUntil) - Number(details?.completedAt)).toBe(3 * 24 * 60 * 60 * 1000);
});

test("an app that lacks the workflow says so", () => {
  expect(() => createBinding(app, "OTHER")).toThrow('no workflow under "OTHER"');
});
