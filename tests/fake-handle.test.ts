/** Handles are interfaces: a test of somebody's own code passes an object with the calls it makes. */
import type { App, InstanceHandle, WorkflowHandle } from "everstep";
import { expect, test } from "vitest";

async function settle(orders: Pick<WorkflowHandle<{ total: number }, string>, "create">): Promise<string> {
  const order = await orders.create({ params: { total: 3 } });
  const result = await order.result();
  return result.status === "complete" ? result.output : result.status;
}

test("an object literal is a handle", async () => {
  const refused = async (): Promise<never> => {
    throw new Error("not part of this test");
  };
  const instance: InstanceHandle<string> = {
    id: "o-1",
    workflowName: "order",
    status: async () => ({ status: "active" }),
    result: async () => ({ status: "complete", output: "paid", timedOut: false }),
    details: refused,
    snapshot: refused,
    step: refused,
    history: refused,
    logs: refused,
    why: refused,
    exportHistory: refused,
    runs: refused,
    pause: refused,
    resume: refused,
    terminate: refused,
    delete: refused,
    restart: refused,
    rewind: refused,
    fork: refused,
    retryFailedStep: refused,
    skipSleep: refused,
    sendEvent: refused,
  };
  expect(await settle({ create: async () => instance })).toBe("paid");
});

test("an object literal is a part of an app", async () => {
  const app: Pick<App, "publish" | "counts"> = {
    publish: async () => ({ waiters: 2 }),
    counts: async () => ({ active: 1, waiting: 0, paused: 0, complete: 0, errored: 0, terminated: 0 }),
  };
  expect(await app.publish("prices")).toEqual({ waiters: 2 });
});
