/** What can be done with instances. */
import assert from "node:assert/strict";
import { defineWorkflow, type WorkflowEvent } from "everstep";
import { createTestHarness } from "everstep/testing";

let isStockKnown = false;
const order = defineWorkflow({ name: "order" }, async (event: WorkflowEvent<{ userId: number }>, step) => {
  const user = await step.do("load user", async () => event.payload.userId);
  const price = await step.do("price", async (ctx) => (ctx.idempotencyKey.includes("/1/") ? 10 : 20));
  await step.sleep("cool-off", "2 days");
  await step.do("reserve", { retries: false }, async () => {
    if (!isStockKnown) throw new Error("no stock");
  });
  return { user, price };
});

const harness = createTestHarness({ workflows: { ORDER: order } });
const { app } = harness;

// #region create
const instance = await app.workflows.ORDER.create({
  id: "o-1", // a UUID when left out
  params: { userId: 7 },
  ifExists: "return", // or "error", the default
  startAt: new Date("2026-03-01T08:00:00Z"),
  deadline: new Date("2026-06-01T00:00:00Z"),
  retention: "90 days",
});
// #endregion create
assert.equal((await instance.details()).status, "active");
await harness.runUntilIdle();
assert.deepEqual(await harness.steps("o-1"), []);
await harness.advanceTo(new Date("2026-03-01T08:00:00Z"));
assert.deepEqual(await harness.steps("o-1"), ["load user completed", "price completed", "cool-off waiting"]);

// #region batch
const created = await app.workflows.ORDER.createBatch([
  { id: "o-1", params: { userId: 7 } }, // exists: left alone, and left out of the answer
  { id: "o-2", params: { userId: 8 } },
]);
console.log(created.map(({ id }) => id)); // [ "o-2" ]
// #endregion batch
assert.deepEqual(
  created.map(({ id }) => id),
  ["o-2"],
);
await harness.runUntilIdle();

// #region look
const { status } = await instance.status(); // "waiting"
const details = await instance.details();
console.log(details.currentStep?.name, details.currentStep?.wakeAt); // cool-off, and when it ends
const { steps } = await instance.history();
console.log(steps.map((step) => `${step.name}: ${step.result}`));
// #endregion look
assert.deepEqual([status, details.currentStep?.name, steps.length], ["waiting", "cool-off", 3]);
assert.equal(details.currentStep?.wakeAt?.toISOString(), "2026-03-03T08:00:00.000Z");

// #region result
const result = await instance.result({ timeout: 0 });
if (result.timedOut) console.log("still", result.status);
else if (result.status === "complete") console.log(result.output?.price);
else console.log(result.status, result.error?.message);
// #endregion result
assert.deepEqual(result, { status: "waiting", timedOut: true });

// #region pause
await instance.pause(); // "paused" at once; a step in flight is still recorded
await instance.resume(); // due now
await instance.skipSleep(); // ends "cool-off"
// #endregion pause
await harness.runUntilIdle();
assert.deepEqual(await instance.status(), {
  status: "errored",
  error: { name: "Error", message: "no stock" },
});

isStockKnown = true;
// #region retry
await instance.retryFailedStep({ delay: "5 minutes" }); // the same run; what is recorded stays
// #endregion retry
await harness.advance("5 minutes");
assert.deepEqual(await instance.status(), { status: "complete", output: { user: 7, price: 10 } });

// #region restart
const copy = await instance.fork({ from: "price", newId: "o-1-again" }); // begins with "load user" recorded
await instance.restart({ from: "price" }); // the same, as run 2 of this instance
// #endregion restart
await harness.advance("2 days");
assert.deepEqual(await instance.status(), { status: "complete", output: { user: 7, price: 20 } });
assert.deepEqual((await copy.status()).status, "complete");
assert.deepEqual(
  (await instance.runs()).map(({ runNumber }) => runNumber),
  [2, 1],
);

// #region restart-or-create
const { outcome } = await app.workflows.ORDER.restartOrCreate({
  id: "nightly",
  params: { userId: 7 },
  when: { statuses: ["complete", "errored", "terminated"] },
});
console.log(outcome); // "created", "restarted" or "unchanged"
// #endregion restart-or-create
assert.equal(outcome, "created");

// #region terminate
await (await app.workflows.ORDER.get("nightly")).terminate({ reason: "not needed today" });
// #endregion terminate
const nightly = await (await app.workflows.ORDER.get("nightly")).details();
assert.deepEqual(nightly.terminationReason, { source: "user", message: "not needed today" });

// #region delete
await (await app.workflows.ORDER.get("nightly")).delete();
// #endregion delete
await assert.rejects(app.workflows.ORDER.get("nightly"), { code: "INSTANCE_NOT_FOUND" });

// #region list
let cursor: string | undefined;
do {
  const page = await app.workflows.ORDER.list({
    status: "errored",
    pageSize: 100,
    ...(cursor && { cursor }),
  });
  for (const { id, error } of page.items) console.log(id, error?.message);
  cursor = page.cursor;
} while (cursor);
// #endregion list

// #region filters
const since = new Date((await instance.details()).createdAt);
const recent = await app.list({ createdFrom: since, idPrefix: "o-" });
console.log(recent.items.map(({ id }) => id)); // o-1-again, o-2, o-1

const soon = await app.due({ before: since.getTime() + 3_600_000 });
for (const { instanceId, kind, dueAt } of soon) console.log(instanceId, kind, dueAt);
// #endregion filters
assert.deepEqual(
  recent.items.map(({ id }) => id),
  ["o-1-again", "o-2", "o-1"],
);
assert.deepEqual(soon, []);

// #region prune
const { complete, errored } = await app.counts("order");
const removed = await app.prune({ limit: 500 });
console.log(complete, errored, removed);
// #endregion prune

// #region prune-hourly
const anHour = 3_600_000;
setInterval(() => app.prune().catch(console.error), anHour).unref();
// #endregion prune-hourly
assert.deepEqual([complete, removed], [3, 0]);
await harness.advance("90 days");
assert.equal(await app.prune(), 2);
await harness.stop();
