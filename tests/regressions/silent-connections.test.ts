/** A connection that stays open and passes nothing any more, while the server can be reached all the time. */
import { createWorkflows, defineWorkflow } from "everstep";
import type { Store } from "everstep/store";
import { createFakeRuntime, createGate } from "everstep/testing";
import { expect, test } from "vitest";
import { quiet } from "./quiet.ts";
import { onEachServer } from "./servers.ts";

/** The store, and how many of its renewals were asked for and answered. */
function countingRenewals(store: Store): { readonly store: Store; asked: number; answered: number } {
  const counted = { store, asked: 0, answered: 0 };
  const renew: Store["renew"] = async (...args) => {
    counted.asked += 1;
    const answers = await store.renew(...args);
    counted.answered += 1;
    return answers;
  };
  counted.store = new Proxy(store, {
    get(target, name) {
      if (name === "renew") return renew;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return counted;
}

onEachServer("silent connections", (take) => {
  test("(LIV-3, INV-6) costs no lease: a renewal is given up after a sixth of a lease, and tried on a fresh connection within a second", async () => {
    const server = take();
    const proxy = await server.proxy();
    const runtime = createFakeRuntime({ now: Date.now() });
    const gate = createGate();
    const bodies: string[] = [];
    const signals: AbortSignal[] = [];
    const workflow = defineWorkflow({ name: "w" }, async ({ instanceId }, step) =>
      step.do("work", { timeout: "1 day" }, async ({ signal }) => {
        bodies.push(instanceId);
        signals.push(signal);
        await gate.wait();
      }),
    );
    // The driver's own patience is longer than this test takes.
    const renewals = countingRenewals(server.open(proxy, { timeoutMs: 120_000 }));
    const options = { workflows: { W: workflow }, runtime, ...quiet([]) };
    const app = createWorkflows({ ...options, store: renewals.store });
    // Who looks on has connections and a clock of its own: a question on a cut one waits for time to pass.
    const onlooker = createWorkflows({ workflows: { W: workflow }, store: server.open(null), ...quiet([]) });
    await app.start();
    const ids = ["a", "b", "c"];
    for (const id of ids) await app.workflows.W.create({ id });
    await runtime.waitUntil(() => bodies.length === 3);
    await runtime.advance("10 seconds");
    await runtime.waitUntil(() => renewals.answered === 1);

    for (const silenced of [1, 2]) {
      for (const connection of proxy.connections) connection.silence();
      const { asked, answered } = renewals;
      await runtime.advance("10 seconds");
      await runtime.waitUntil(() => renewals.asked === asked + 1);
      await runtime.advance("6 seconds");
      await runtime.waitUntil(() => renewals.answered === answered + 1);
      expect(renewals.asked - asked, `silence ${silenced}`).toBe(2);
    }
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false]);

    // What else was asked on the silent ones need not be waited for.
    proxy.cut();
    await gate.open();
    const isComplete = async (): Promise<boolean> => (await onlooker.counts()).complete === 3;
    const isSoon = (): Promise<boolean> =>
      runtime.waitUntil(isComplete, { timeout: 1000 }).then(
        () => true,
        () => false,
      );
    // Time passes only as far as the pauses after a failure need it: leases are counted by the same clock.
    for (let second = 0; second < 10 && !(await isSoon()); second += 1) await runtime.advance("1 second");
    expect(await isComplete()).toBe(true);
    expect(bodies.toSorted(), "each body ran once").toEqual(ids);
    await onlooker.stop();
    await app.stop();
  });
});
