/** everstep itself, measured by the same code. A workflow has ended here only when its result is there. */
import { createWorkflows, defineWorkflow, type InstanceHandle } from "everstep";
import { openStore } from "../../grounds/open-ground.ts";
import { tellProblem } from "../../problems.ts";
import { fiveSteps } from "../../workloads/five-steps.ts";
import type { Alternative, Open } from "../alternative.ts";

export const alternative: Alternative = {
  name: "everstep",
  title: "everstep",
  stores: ["sqlite", "sqlite-normal", "postgres", "mysql", "redis"],
  packages: {},
  notes: [],
};

export const open: Open = async ({ store, room, observer }) => {
  const waiter = defineWorkflow({ name: "waiter" }, async ({ instanceId }, step) => {
    observer.waits(instanceId);
    await step.waitForEvent("go", { type: "go" });
    await step.do("after", async () => true);
  });
  const sleeper = defineWorkflow<{ readonly ms: number }, void>(
    { name: "sleeper" },
    async ({ instanceId, payload }, step) => {
      observer.asleep(instanceId);
      await step.sleep("nap", payload.ms);
      observer.awake(instanceId);
      await step.do("after", async () => true);
    },
  );
  const app = createWorkflows({
    workflows: { fiveSteps, waiter, sleeper },
    store: await openStore(store, room.url),
    onProblem: tellProblem,
  });
  await app.start();
  const { workflows } = app;
  const instances = new Map<string, InstanceHandle<unknown>>();
  const results = new Map<string, Promise<unknown>>();
  const follow = (instance: InstanceHandle<unknown>): void => {
    instances.set(instance.id, instance);
    const result = instance.result().then(() => observer.ended(instance.id));
    results.set(instance.id, result);
  };
  return {
    settings: "default settings",
    startsAtOnce: 512,
    startFive: async (id) => follow(await workflows.fiveSteps.create({ id })),
    result: async (id) => results.get(id),
    events: {
      async start(id) {
        follow(await workflows.waiter.create({ id }));
      },
      settleMs: 500,
      send: async (id) => instances.get(id)?.sendEvent({ type: "go", payload: null }),
    },
    sleeps: {
      async start(id, ms) {
        follow(await workflows.sleeper.create({ id, params: { ms } }));
      },
    },
    close: async () => void (await app.stop()),
  };
};
