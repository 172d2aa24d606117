/** Audits beside runners at work: what they write while it is read is no violation. */
import { createWorkflows, defineWorkflow, type VerifyReport } from "everstep";
import { memory } from "everstep/memory";
import type { Store } from "everstep/store";
import { describe, expect, test } from "vitest";
import { onEachSite } from "./sites.ts";

const busy = defineWorkflow<{ readonly n: number }>({ name: "busy" }, async ({ payload }, step) => {
  const steps = Array.from({ length: 5 }, (_, at) => at);
  await Promise.all(steps.map((at) => step.do(`side ${at}`, async () => at)));
  await step.do("flaky", { retries: { limit: 3, delay: 1 } }, async ({ attempt }) => {
    if (attempt < 3) throw new Error("not yet");
    await step.do("inside", async () => attempt);
  });
  await Promise.race([step.sleep("short", 1), step.sleep("long", "1 hour")]);
  const told = await step.waitForEvent<{ n: number }>("told", { type: "told" });
  for (const at of steps) await step.do(`after ${at}`, async () => told.payload);
  return payload.n;
});

async function auditUnderLoad(open: () => Store): Promise<void> {
  const quiet = { onNotice: () => {} };
  const apps = [1, 2].map(() => createWorkflows({ workflows: { BUSY: busy }, store: open(), ...quiet }));
  const [first, second] = apps as [(typeof apps)[0], (typeof apps)[0]];
  const ids = Array.from({ length: 60 }, (_, n) => `b-${n}`);
  try {
    for (const app of apps) await app.start();
    let isOver = false;
    const load = (async () => {
      for (const [n, id] of ids.entries()) {
        const instance = await first.workflows.BUSY.create({ id, params: { n } });
        await instance.sendEvent({ type: "told", payload: { n } });
        if (n % 7 === 0) await instance.pause();
        if (n % 7 === 0) await instance.resume();
        if (n % 9 === 0) await instance.restart();
        if (n % 9 === 0) await instance.sendEvent({ type: "told", payload: { n } });
      }
      for (const id of ids) await (await first.workflows.BUSY.get(id)).result({ timeout: "60 seconds" });
      isOver = true;
    })();
    const reports: VerifyReport[] = [];
    while (!isOver) reports.push(await second.verify({ history: true, doubts: true, overdue: "1 minute" }));
    await load;
    for (const { violations, warnings, unreadable } of reports) {
      expect({ violations, warnings, unreadable }).toEqual({ violations: [], warnings: [], unreadable: [] });
    }
    expect(reports.length).toBeGreaterThan(0);
    expect(await second.verify()).toMatchObject({
      checked: ids.length,
      moving: 0,
      violations: [],
      complete: true,
    });
  } finally {
    for (const app of apps) await app.stop();
  }
}

describe("under load (memory)", () => {
  test("an audit finds nothing wrong with runs that move", async () => {
    const { database } = memory();
    await auditUnderLoad(() => memory({ database }));
  });
});

onEachSite("under load", (take) => {
  test("an audit finds nothing wrong with runs that move", async () => {
    const site = take();
    await auditUnderLoad(site.open);
  });
});
