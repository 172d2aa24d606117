/** What goes on for ever needs no more room for it. */
import { EventEmitter } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createWorkflows, defineWorkflow } from "everstep";
import { createFakeRuntime, memory } from "everstep/testing";
import { expect, test } from "vitest";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

async function heapBytes(): Promise<number> {
  for (let n = 0; n < 3; n++) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

const mib = 1024 * 1024;

test("R-080 a hundred thousand idle polls leave nothing behind", async () => {
  const runtime = createFakeRuntime();
  const workflow = defineWorkflow({ name: "w" }, async () => "done");
  const store = memory();
  let claims = 0;
  const counting = new Proxy(store, {
    get(target, name) {
      if (name === "claim") claims++;
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const poll = { poll: 500, minPoll: 500, maxPoll: 500 };
  const app = createWorkflows({ workflows: { W: workflow }, store: counting, runtime, runner: poll });
  await app.start();
  await runtime.advance("1 hour");
  const [before, polled] = [await heapBytes(), claims];
  await runtime.advance("14 hours");
  expect(claims - polled).toBeGreaterThan(100_000);
  expect((await heapBytes()) - before).toBeLessThan(mib);
  await app.stop();
});

test("R-080 nor do fifty thousand steps, with retries, timeouts, sleeps and signals that somebody listens to", async () => {
  const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
    for (let n = 0; n < 20; n++) {
      await step.do(
        `step ${n}`,
        { timeout: "1 minute", retries: { limit: 1, delay: 0 } },
        async ({ signal, attempt }) => {
          signal.addEventListener("abort", () => {});
          if (n === 5 && attempt === 1) throw new Error("again");
        },
      );
    }
    await Promise.race([step.sleep("short", 1), step.sleep("long", "1 hour")]);
  });
  const app = createWorkflows({
    workflows: { W: workflow },
    store: memory(),
    runner: { poll: 500, minPoll: 500 },
    onNotice: () => {},
  });
  await app.start();
  let ids = 0;
  const round = async (): Promise<void> => {
    const batch = Array.from({ length: 100 }, () => ({ id: `i${ids++}`, retention: 0 }));
    const instances = await app.workflows.W.createBatch(batch);
    await Promise.all(instances.map((instance) => instance.result()));
    while ((await app.prune()) > 0);
  };
  for (let n = 0; n < 5; n++) await round();
  const before = await heapBytes();
  for (let n = 0; n < 25; n++) await round();
  expect((await heapBytes()) - before).toBeLessThan(3 * mib);
  await app.stop();
});

test("R-080 apps that come and go leave no listener on the process", async () => {
  const listeners = () =>
    process.eventNames().map((name) => [name, EventEmitter.listenerCount(process, name)]);
  const workflow = defineWorkflow({ name: "w" }, async (_event, step) => step.do("work", async () => "done"));
  const live = async (): Promise<void> => {
    const app = createWorkflows({ workflows: { W: workflow }, store: memory() });
    await app.start();
    const instance = await app.workflows.W.create();
    expect((await instance.result()).status).toBe("complete");
    await app.stop();
  };
  await live();
  const before = listeners();
  for (let n = 0; n < 50; n++) await live();
  expect(listeners()).toEqual(before);
});
