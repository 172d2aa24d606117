import type { VerifyReport } from "everstep";
import type { RunId } from "everstep/store";
import { createGate, createTestHarness } from "everstep/testing";
import { afterEach, expect, test } from "vitest";
import { damages } from "./damages.ts";
import { type Stage, workflowsOf } from "./shapes.ts";
import { onEachSite, type Site } from "./sites.ts";

const open: Stage[] = [];
afterEach(async () => {
  for (const story of open.splice(0)) await story.stop();
});

/** One instance for each kind of damage, named after it, and some that stay as they are. */
async function tell(site: Site): Promise<Stage> {
  const workflows = workflowsOf({ gate: createGate(), fixed: false });
  const story: Stage = createTestHarness({ workflows, store: site.open });
  open.push(story);
  const { SHAPES } = story.workflows;
  for (const [id, { does }] of Object.entries(damages)) await SHAPES.create({ id, params: { does } });
  for (const id of ["whole-1", "whole-2"]) await SHAPES.create({ id, params: { does: "waits" } });
  await story.runUntilIdle();
  for (const [id, { events = 0 }] of Object.entries(damages)) {
    for (let n = 0; n < events; n++) await story.sendEvent(id, { type: "paid", payload: n });
  }
  await story.runUntilIdle();
  await story.advance("2 minutes");
  return story;
}

async function runOf(story: Stage, instanceId: string): Promise<RunId> {
  const record = await story.app.store.getInstance({ workflowName: "shapes", instanceId });
  if (record === undefined) throw new Error(`There is no ${instanceId}.`);
  return record.runId;
}

/** What was found, by instance. */
function byInstance({ violations, unreadable, warnings }: VerifyReport): Record<string, string> {
  return Object.fromEntries([
    ...violations.map(({ instanceId, invariant }) => [instanceId, invariant]),
    ...unreadable.map(({ instanceId }) => [instanceId, "unreadable"]),
    ...warnings.map(({ instanceId, promise, unless }) => [instanceId, `${promise} ${unless}`]),
  ]);
}

onEachSite("damage behind the store's back", (take) => {
  test("is found, each kind of it, and the report names the instance", async () => {
    const site = take();
    const story = await tell(site);
    expect(byInstance(await story.app.verify())).toEqual({});
    for (const [id, damage] of Object.entries(damages)) {
      expect({ id, hit: await site.damage(damage, await runOf(story, id)) }).toEqual({ id, hit: 1 });
    }
    const report = await story.app.verify();
    const expected = Object.entries(damages).map(([id, { found }]) => [id, found]);
    expect(byInstance(report)).toEqual(Object.fromEntries(expected));
    expect(report).toMatchObject({ checked: expected.length + 1, moving: 0, complete: true });
  });

  test("an event that woke nobody is found by those who ask for doubts", async () => {
    const site = take();
    const story = await tell(site);
    await story.sendEvent("whole-1", { type: "paid" });
    const runId = await runOf(story, "whole-1");
    const [wait] = (await story.app.store.listSteps(runId, { limit: 1 })).items;
    const late = String(wait?.wakeAt);
    const sql = `UPDATE <run> SET due_at = ${late} WHERE id = ?`;
    await site.damage({ sql, redis: ({ call }, run) => call("HSET", `run:${run}`, "due", late) }, runId);
    expect(byInstance(await story.app.verify())).toEqual({});
    expect(byInstance(await story.app.verify({ doubts: true }))).toEqual({
      "whole-1": "INV-23 code-changed",
    });
  });

  test("an older run that is gone is found in the history", async () => {
    const site = take();
    const story = await tell(site);
    const runId = await runOf(story, "whole-2");
    await (await story.workflows.SHAPES.get("whole-2")).restart();
    const sql = "DELETE FROM <run> WHERE id = ?";
    await site.damage(
      { sql, redis: ({ call }) => call("HDEL", "instance:6:shapes:whole-2", "run:1") },
      runId,
    );
    expect(byInstance(await story.app.verify())).toEqual({});
    const { violations } = await story.app.verify({ history: true });
    expect(violations).toMatchObject([{ invariant: "INV-33", instanceId: "whole-2", runNumber: 1 }]);
  });

  test("an instance whose own row cannot be read hides no other", async () => {
    const site = take();
    const story = await tell(site);
    const sql = "UPDATE <instance> SET parent_workflow = 'somewhere' WHERE instance_id = 'whole-1'";
    const hit = await site.damage(
      { sql, redis: ({ call }) => call("HSET", "instance:6:shapes:whole-1", "parent", "{") },
      await runOf(story, "whole-1"),
    );
    expect(hit).toBe(1);
    const report = await story.app.verify();
    expect(report.unreadable).toMatchObject([
      { instanceId: null, message: expect.stringContaining("cannot be read") },
    ]);
    expect(report).toMatchObject({
      checked: Object.keys(damages).length + 1,
      violations: [],
      complete: true,
    });
  });

  test("is looked for without writing anything", async () => {
    const site = take();
    const story = await tell(site);
    for (const [id, damage] of Object.entries(damages)) await site.damage(damage, await runOf(story, id));
    const before = await site.dump();
    expect(before.length).toBeGreaterThan(50);
    await story.app.verify({ history: true, doubts: true });
    expect(await site.dump()).toEqual(before);
  });
});
