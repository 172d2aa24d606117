import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { EverstepError } from "../model/error.ts";
import { memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { createFaultyStore } from "../testing/faulty-store.ts";
import { createWorkflows } from "./create-workflows.ts";

const echo = defineWorkflow({ name: "echo" }, async ({ payload }) => payload);

/** An app with so many instances that have ended, and what is asked of its store from then on. */
async function ended(count: number) {
  const runtime = createFakeRuntime();
  const store = createFaultyStore(memory());
  const app = createWorkflows({ workflows: { echo }, store, runtime, onProblem: () => {} });
  await app.start();
  const instances = await Promise.all(
    Array.from({ length: count }, (_, n) => app.workflows.echo.create({ id: `i${n}`, params: { n } })),
  );
  await Promise.all(instances.map((instance) => instance.result()));
  const verbs = ["getInstance", "getInstances", "getStatuses"] as const;
  const counts = () => verbs.map((verb) => store.count(verb));
  const before = counts();
  const asked = (): Record<string, number> =>
    Object.fromEntries(verbs.map((verb, n) => [verb, (counts()[n] as number) - (before[n] as number)]));
  return { app, store, runtime, asked };
}

const ids = (count: number) => Array.from({ length: count }, (_, n) => `i${n}`);

describe("what is asked in the same moment travels in one read", () => {
  test("results of instances that have ended", async () => {
    const { app, asked } = await ended(1000);
    const results = await Promise.all(ids(1000).map((id) => app.workflows.echo.at(id).result()));
    expect(results.map(({ output }) => output)).toEqual(ids(1000).map((_, n) => ({ n })));
    expect(asked()).toEqual({ getInstance: 0, getInstances: 10, getStatuses: 2 });
    await app.stop();
  });

  test("statuses, and gets by id", async () => {
    const { app, asked } = await ended(60);
    const statuses = ids(30).map((id) => app.workflows.echo.at(id).status());
    const found = ids(30).map((id) => app.workflows.echo.get(id));
    expect((await Promise.all(statuses)).every(({ status }) => status === "complete")).toBe(true);
    expect((await Promise.all(found)).map(({ id }) => id)).toEqual(ids(30));
    expect(asked()).toEqual({ getInstance: 0, getInstances: 1, getStatuses: 0 });
    await app.stop();
  });

  test("alone it is read alone", async () => {
    const { app, asked } = await ended(1);
    await app.workflows.echo.at("i0").status();
    expect(asked()).toEqual({ getInstance: 1, getInstances: 0, getStatuses: 0 });
    await app.stop();
  });

  test("one that is not there is told so, and the others get theirs", async () => {
    const { app } = await ended(2);
    const asked = ["i0", "nobody", "i1"].map((id) => app.workflows.echo.at(id).status());
    expect(await Promise.allSettled(asked)).toMatchObject([
      { value: { status: "complete" } },
      { reason: { code: "INSTANCE_NOT_FOUND" } },
      { value: { status: "complete" } },
    ]);
    await app.stop();
  });

  test("one whose row cannot be read keeps nobody else from theirs", async () => {
    const { app, store } = await ended(3);
    const unreadable = new EverstepError("HISTORY_UNREADABLE", "damaged");
    store.plan(({ method, args }) => {
      const isDamaged =
        method === "getInstances" || (args[0] as { instanceId?: string })?.instanceId === "i1";
      return isDamaged && method.startsWith("getInstance") ? () => Promise.reject(unreadable) : null;
    });
    const asked = ids(3).map((id) => app.workflows.echo.at(id).status());
    expect(await Promise.allSettled(asked)).toMatchObject([
      { value: { status: "complete" } },
      { reason: { code: "HISTORY_UNREADABLE" } },
      { value: { status: "complete" } },
    ]);
    await app.stop();
  });

  test("a store that is out of reach for a moment is asked again with one read, not with one for each", async () => {
    const { app, store, runtime, asked } = await ended(50);
    store.fail("getInstances", "unavailable", { times: 2 });
    const statuses = Promise.all(ids(50).map((id) => app.workflows.echo.at(id).status()));
    await runtime.advance("10 seconds");
    expect((await statuses).length).toBe(50);
    expect(asked()).toEqual({ getInstance: 0, getInstances: 3, getStatuses: 0 });
    await app.stop();
  });
});
