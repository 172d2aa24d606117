/** Rows that nobody may claim, or that everybody may at once, cost a claim nothing. */
import { createWorkflows, defineWorkflow } from "everstep";
import type { Store, StoreRequest } from "everstep/store";
import { expect, test } from "vitest";
import { onEachData } from "./each-data.ts";
import { at, claimRequest, create, pause } from "./given.ts";
import { quiet } from "./quiet.ts";

const batch = 500;

async function writeAll(store: Store, requests: readonly StoreRequest[], now: number): Promise<void> {
  for (let from = 0; from < requests.length; from += batch) {
    await store.write(requests.slice(from, from + batch), now);
  }
}

async function timed<Result>(act: () => Promise<Result>): Promise<{ result: Result; ms: number }> {
  const began = performance.now();
  const result = await act();
  return { result, ms: performance.now() - began };
}

onEachData("crowds", {}, (take) => {
  test("R-082 one run that may go is claimed at once behind thousands of older ones that may not", async () => {
    const { open, isRemote } = take();
    const store = open();
    await store.migrate();
    const count = isRemote ? 2000 : 5000;
    const ids = Array.from({ length: count }, (_, n) => `i${n}`);
    const paused = ids.flatMap((id) => [create(`p${id}`), pause(`p${id}`)]);
    await writeAll(store, paused, at(0));
    const full = ids.map((id) => create(id, { workflowName: "full" }));
    await writeAll(store, full, at(0));
    const workflows = [
      { name: "full", concurrency: 1 },
      { name: "order", concurrency: null },
      { name: "other", concurrency: 5 },
    ];
    const [first] = await store.claim(claimRequest({ workflows, limit: 1, now: at(1) }));
    expect(first?.workflowName).toBe("full");
    await store.write(
      [create("order", { dueAt: at(1) }), create("other", { workflowName: "other", dueAt: at(1) })],
      at(1),
    );
    const { result, ms } = await timed(() => store.claim(claimRequest({ workflows, limit: 2, now: at(2) })));
    expect(result.map(({ instanceId }) => instanceId).toSorted()).toEqual(["order", "other"]);
    expect(ms).toBeLessThan(1000);
  });

  test("R-083 (INV-47) when all leases have run out at once, a runner starts and claims as fast as ever", async () => {
    const { open, isRemote } = take();
    const store = open();
    await store.migrate();
    const count = isRemote ? 10_000 : 100_000;
    const now = Date.now() - 60_000;
    const lease = { owner: "dead", until: now };
    const created = Array.from({ length: count }, (_, n) =>
      create(`i${n}`, { workflowName: "w", createdAt: now, dueAt: now, lease }),
    );
    await writeAll(store, created, now);
    let finished = 0;
    const workflow = defineWorkflow({ name: "w" }, async () => void finished++);
    const app = createWorkflows({
      workflows: { W: workflow },
      store: open(),
      runner: { concurrency: 20 },
      ...quiet(),
    });
    const start = await timed(() => app.start());
    expect(start.ms).toBeLessThan(5000);
    const began = performance.now();
    while (finished < 100 && performance.now() - began < 30_000)
      await new Promise((go) => setTimeout(go, 10));
    expect(finished).toBeGreaterThanOrEqual(100);
    const workflows = [{ name: "w", concurrency: null }];
    const claiming = await timed(() => store.claim(claimRequest({ workflows, limit: 100, now: Date.now() })));
    expect(claiming.result.length).toBe(100);
    expect(claiming.ms).toBeLessThan(1000);
    await app.stop();
  });
});
