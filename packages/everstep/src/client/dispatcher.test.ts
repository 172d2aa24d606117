import { afterEach, describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { Dispatcher, WakeHint } from "../runner/hints.ts";
import { createMemoryDatabase, memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { createFaultyStore } from "../testing/faulty-store.ts";
import type { App } from "./app.ts";
import type { AppOptions } from "./app-options.ts";
import { createWorkflows } from "./create-workflows.ts";

const begun = Date.UTC(2026, 0, 1);
const apps: App[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.stop();
});

/** An app that nobody runs, and what its dispatcher heard: `order/a create`, `order/a wake in 3600s`. */
function host<Workflows extends Record<string, WorkflowDefinition>>(
  workflows: Workflows,
  { dispatcher, ...more }: Partial<AppOptions<Workflows>> = {},
) {
  const runtime = createFakeRuntime({ now: begun });
  const problems: unknown[] = [];
  let heard: string[] = [];
  const wake = ({ workflowName, instanceId, reason, dueAt }: WakeHint): void => {
    const when = dueAt ? ` in ${(dueAt.getTime() - runtime.now()) / 1000}s` : "";
    heard.push(`${workflowName}/${instanceId} ${reason}${when}`);
  };
  const store = createFaultyStore(memory({ database: createMemoryDatabase() }));
  const app = createWorkflows({
    workflows,
    store,
    runtime,
    dispatcher: dispatcher ?? { wake },
    onProblem: (problem) => problems.push(problem),
    onNotice: () => {},
    ...more,
  } as AppOptions<Workflows>);
  apps.push(app as App);
  /** Since the last look. */
  const hints = (): string[] => {
    const since = heard;
    heard = [];
    return since;
  };
  return { app, runtime, store, problems, hints };
}

const order = defineWorkflow({ name: "order" }, async (_, step) => {
  await step.do("charge", async () => 1);
  await step.sleep("cool off", "1 hour");
  return (await step.waitForEvent("approval", { type: "approved", timeout: "1 day" })).payload;
});

describe("a dispatcher hears", () => {
  test("every turn an instance wants in its life, and when", async () => {
    const { app, runtime, hints } = host({ ORDER: order });
    const instance = await app.workflows.ORDER.create({ id: "a" });
    expect(hints()).toEqual(["order/a create"]);
    await app.tick();
    expect(hints()).toEqual(["order/a wake in 3600s"]);
    await runtime.advance("1 hour");
    await app.tick();
    expect(hints()).toEqual(["order/a wake in 86400s"]);
    await instance.sendEvent({ type: "approved", payload: true });
    expect(hints()).toEqual(["order/a event"]);
    await app.tick();
    expect(await instance.status()).toEqual({ status: "complete", output: true });
    expect(hints()).toEqual([]);
  });

  test("of a creation after it is durable", async () => {
    const seen: unknown[] = [];
    let app!: App;
    const dispatcher: Dispatcher = {
      wake: async ({ instanceId }) => seen.push(await (await app.workflows.ORDER!.get(instanceId)).status()),
    };
    const made = host({ ORDER: order }, { dispatcher });
    app = made.app as App;
    await made.app.workflows.ORDER.create();
    await made.runtime.settle();
    expect(seen).toEqual([{ status: "active" }]);
  });

  test("of every entry of a batch that is new, of forks and of restarts", async () => {
    const { app, hints } = host({ ORDER: order });
    const { ORDER } = app.workflows;
    await ORDER.create({ id: "a" });
    await ORDER.createBatch([{ id: "a" }, { id: "b" }, { id: "c", startAt: begun + 5000 }]);
    expect(hints()).toEqual(["order/a create", "order/b create", "order/c create in 5s"]);
    const instance = await ORDER.get("a");
    await instance.fork({ newId: "d" });
    await instance.restart();
    expect(hints()).toEqual(["order/d create", "order/a create"]);
    await ORDER.restartOrCreate({ id: "a" });
    expect(hints()).toEqual(["order/a create"]);
  });

  test("of resumes and skipped sleeps", async () => {
    const { app, hints } = host({ ORDER: order });
    const instance = await app.workflows.ORDER.create({ id: "a" });
    await app.tick();
    hints();
    await instance.pause();
    await instance.resume();
    expect(hints()).toEqual(["order/a resume"]);
    await app.tick();
    hints();
    await instance.skipSleep();
    expect(hints()).toEqual(["order/a wake"]);
  });

  test("of steps that wait for their next attempt, and of failed ones that get another", async () => {
    const flaky = defineWorkflow({ name: "flaky" }, async (_, step) => {
      await step.do("call", { retries: { limit: 1, delay: "10 seconds", backoff: "constant" } }, async () => {
        throw new Error("down");
      });
    });
    const { app, runtime, hints } = host({ FLAKY: flaky });
    const instance = await app.workflows.FLAKY.create({ id: "a" });
    await app.tick();
    expect(hints()).toEqual(["flaky/a create", "flaky/a retry in 10s"]);
    await runtime.advance("10 seconds");
    await app.tick();
    expect(await instance.status()).toMatchObject({ status: "errored" });
    await instance.retryFailedStep();
    expect(hints()).toEqual(["flaky/a retry"]);
    await app.tick();
    await instance.retryFailedStep({ delay: "1 minute" });
    expect(hints()).toEqual(["flaky/a retry in 60s"]);
  });

  test("of children created, and others woken, with a step", async () => {
    const parent = defineWorkflow({ name: "parent" }, async (_, step) => {
      await step.do("tell", async (ctx) => {
        ctx.startWorkflow("order", { id: "child" });
        ctx.sendEvent({ workflow: "order", id: "waits" }, { type: "approved" });
        ctx.sendEvent({ workflow: "order", id: "sleeps" }, { type: "approved" });
      });
    });
    const { app, runtime, hints } = host({ ORDER: order, PARENT: parent });
    const { ORDER, PARENT } = app.workflows;
    await ORDER.create({ id: "waits" });
    await app.tick();
    await runtime.advance("1 hour");
    await ORDER.create({ id: "sleeps" });
    await app.tick();
    hints();
    await PARENT.create({ id: "p" });
    expect(hints()).toEqual(["parent/p create"]);
    await app.tick();
    await runtime.settle();
    expect(hints()).toEqual(["order/child create", "order/waits event"]);
  });

  test("of each run that a publication woke, once, and of no other", async () => {
    const watch = defineWorkflow({ name: "watch" }, async (_, step) => {
      const wait = (name: string) => step.waitForEvent(name, { topic: "rates" });
      await Promise.all([wait("one"), wait("two")]);
    });
    const { app, runtime, hints } = host({ WATCH: watch });
    for (const id of ["a", "b", "paused"]) await app.workflows.WATCH.create({ id });
    await app.tick();
    await (await app.workflows.WATCH.get("paused")).pause();
    hints();
    expect(await app.publish("rates", 1, { idempotencyKey: "p-1" })).toEqual({ waiters: 6 });
    await runtime.settle();
    expect(hints().sort()).toEqual(["watch/a event", "watch/b event"]);
    await app.publish("rates", 1, { idempotencyKey: "p-1" });
    await app.publish("other");
    await runtime.settle();
    expect(hints()).toEqual([]);
  });

  test("of all of many who waited on a topic", async () => {
    const watch = defineWorkflow({ name: "watch" }, async (_, step) => {
      await step.waitForEvent("rates", { topic: "rates" });
    });
    const { app, runtime, hints } = host({ WATCH: watch }, { runner: { concurrency: 500 } });
    for (let batch = 0; batch < 3; batch++) {
      await app.workflows.WATCH.createBatch(
        Array.from({ length: 100 }, (_, at) => ({ id: `${batch}-${at}` })),
      );
    }
    await app.tick();
    hints();
    expect(await app.publish("rates")).toEqual({ waiters: 300 });
    await runtime.settle();
    expect(new Set(hints()).size).toBe(300);
  });

  test("of what a limited tick left", async () => {
    const { app, hints } = host({ ORDER: order });
    await app.workflows.ORDER.create({ id: "a" });
    hints();
    await app.tick({ maxSteps: 0 });
    expect(hints()).toEqual(["order/a resume"]);
  });

  test("of what a stopping process gave back unfinished", async () => {
    const slow = defineWorkflow({ name: "slow" }, async (_, step) => {
      await step.do("work", () => new Promise(() => {}));
    });
    const { app, runtime, hints } = host({ SLOW: slow });
    await app.workflows.SLOW.create({ id: "a" });
    void app.tick();
    await runtime.settle();
    hints();
    await app.stop({ grace: 0 });
    expect(hints()).toEqual(["slow/a resume"]);
  });

  test("of those who are told of an end", async () => {
    const quick = defineWorkflow({ name: "quick" }, async () => 1);
    const { app, hints } = host({ QUICK: quick }, { hooks: { onEnded: () => {} } });
    await app.workflows.QUICK.create({ id: "a" });
    hints();
    await app.tick();
    expect(hints()).toEqual([expect.stringMatching(/^everstep_hooks\/.+ create$/)]);
  });
});

describe("a dispatcher does not hear", () => {
  test("of an instance that this process took up in the commit that created it", async () => {
    const quick = defineWorkflow({ name: "quick" }, async () => 1);
    const { app, runtime, hints } = host({ QUICK: quick });
    await app.start();
    await runtime.settle();
    await (await app.workflows.QUICK.create()).result();
    expect(hints()).toEqual([]);
  });

  test("of what was refused or changed nothing", async () => {
    const { app, runtime, hints } = host({ ORDER: order });
    const instance = await app.workflows.ORDER.create({ id: "a" });
    await app.tick();
    hints();
    await expect(app.workflows.ORDER.create({ id: "a" })).rejects.toMatchObject({
      code: "INSTANCE_ID_ALREADY_EXISTS",
    });
    await instance.resume();
    await instance.sendEvent({ type: "approved", idempotencyKey: "e" });
    await instance.pause();
    await instance.terminate();
    await expect(instance.sendEvent({ type: "approved" })).rejects.toMatchObject({
      code: "INSTANCE_TERMINAL",
    });
    await runtime.settle();
    expect(hints()).toEqual([]);
  });

  test("of a write that was not applied, but of one whose reply was lost", async () => {
    const { app, runtime, store, hints } = host({ ORDER: order });
    await app.migrate();
    store.fail("create", "fatal");
    await expect(app.workflows.ORDER.create({ id: "a" })).rejects.toThrow();
    expect(hints()).toEqual([]);
    store.fail("create", "ambiguous", { applied: true });
    const created = app.workflows.ORDER.create({ id: "b" });
    await runtime.advance("2 seconds");
    await created;
    await runtime.settle();
    expect(hints()).toEqual(["order/b create"]);
  });
});

describe("a dispatcher that fails", () => {
  const failing = (wake: Dispatcher["wake"]) => host({ ORDER: order }, { dispatcher: { wake } });
  const told = (problems: readonly unknown[]): string[] =>
    problems.map((problem) => (problem as Error).message);

  test.each<[string, Dispatcher["wake"], RegExp]>([
    [
      "throws",
      () => thrown(),
      /^dispatcher\.wake for order\/a \(create\) threw: no route\. Only the hint is lost/,
    ],
    ["rejects", async () => thrown(), /^dispatcher\.wake for order\/a \(create\) failed: no route\./],
  ])("because it %s harms nothing and is reported once", async (_, wake, expected) => {
    const { app, runtime, problems } = failing(wake);
    const instance = await app.workflows.ORDER.create({ id: "a" });
    await runtime.advance("1 minute");
    expect(told(problems)).toEqual([expect.stringMatching(expected)]);
    expect(await instance.status()).toEqual({ status: "active" });
  });

  test("because it hangs keeps no write waiting, is reported once, and its late failure is not", async () => {
    let reject!: (error: Error) => void;
    const { app, runtime, problems } = failing(
      () =>
        new Promise((_, fail) => {
          reject = fail;
        }),
    );
    await app.workflows.ORDER.create({ id: "a" });
    expect(problems).toEqual([]);
    await runtime.advance("1 minute");
    expect(told(problems)).toEqual([expect.stringContaining("has not ended after 30 seconds")]);
    reject(new Error("too late"));
    await runtime.settle();
    expect(problems).toHaveLength(1);
  });

  test("because it hangs is not waited for for long when the app stops, and leaves no timer", async () => {
    const { app, runtime, problems } = failing(() => new Promise(() => {}));
    await app.workflows.ORDER.create({ id: "a" });
    const stopped = app.stop();
    await runtime.advance("5 seconds");
    await stopped;
    expect(runtime.nextTimerAt()).toBeNull();
    expect(problems).toEqual([]);
  });

  test("one that is none is refused at once", () => {
    expect(() => host({ ORDER: order }, { dispatcher: {} as Dispatcher })).toThrow(/needs a wake function/);
  });
});

function thrown(): never {
  throw new Error("no route");
}
