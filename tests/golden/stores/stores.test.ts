/** Stores that other versions wrote are read exactly, migrated, and everything in them is finished. */
import { createTestHarness, type TestHarness } from "everstep/testing";
import { afterEach, describe, expect, test } from "vitest";
import { cast, everyValue } from "./cast.ts";
import { type Fixture, fixtures } from "./fixtures.ts";
import type { Copy } from "./load.ts";
import { type GoldenRecords, readGoldenStore } from "./read.ts";
import { writtenUntil } from "./write.ts";

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const act of cleanUps.splice(0).reverse()) await act();
});

async function take(fixture: Fixture): Promise<Copy> {
  const copy = await fixture.load();
  cleanUps.push(() => copy.remove());
  return copy;
}

describe.each(fixtures)("$name", (fixture) => {
  describe.skipIf(!fixture.canLoad)("written by the code of its time", () => {
    test("is migrated as far as there is anything to do", async () => {
      const copy = await take(fixture);
      const store = copy.open();
      cleanUps.push(() => store.close());
      const { from, to } = await store.migrate();
      expect(from).toBe(fixture.version);
      const newest = Math.max(
        ...fixtures.flatMap(({ store, version }) => (store === fixture.store ? [version] : [])),
      );
      expect(to, "A new version of a schema is recorded with scripts/record-golden-stores.mjs.").toBe(newest);
      expect(await store.migrate()).toEqual({ from: to, to, statements: [] });
    });

    test("tells of every instance, run, step, event and line what it told then", async () => {
      const copy = await take(fixture);
      const store = copy.open();
      cleanUps.push(() => store.close());
      await store.migrate();
      const read: GoldenRecords = JSON.parse(JSON.stringify(await readGoldenStore(store)));
      const recorded = fixture.records();
      expect(read.instances.map(({ name }) => name)).toEqual(recorded.instances.map(({ name }) => name));
      // Records may say more than they did then, but nothing else.
      expect(read).toMatchObject(recorded);
      for (const [n, { runs }] of recorded.instances.entries()) {
        expect(
          read.instances[n]?.runs.map(({ steps, events, logs }) => [
            steps.length,
            events.length,
            logs.length,
          ]),
        ).toEqual(runs.map(({ steps, events, logs }) => [steps.length, events.length, logs.length]));
      }
    });

    test("every instance that was left is finished, and nothing that was done is done again", async () => {
      const copy = await take(fixture);
      const world = { started: [] as string[], isBeingWritten: false };
      const harness = createTestHarness({
        workflows: cast(world),
        store: copy.open,
        now: writtenUntil + 1000,
        runner: { maxResidents: 0 },
      });
      cleanUps.push(() => harness.stop());
      await finishEverything(harness);
      const seen = await outcomes(harness);
      expect(seen).toEqual(expected);
      expect(world.started.toSorted()).toEqual(startedAfterwards.toSorted());
      expect(await harness.app.counts()).toMatchObject({ active: 0, waiting: 0, paused: 0 });
    });
  });
});

type Golden = TestHarness<ReturnType<typeof cast>>;

/** What people and events would have done by and by. */
async function finishEverything(harness: Golden): Promise<void> {
  const { workflows } = harness;
  const { sleeps, events, values, branches, family, fails, refuses, held, steps } = workflows;
  // Everything that was due, the leases of the process that is gone included.
  await harness.advance("1 minute");
  await (await events.get("waiting")).sendEvent({
    type: "approved",
    payload: "yes",
    idempotencyKey: "event-5",
  });
  // A repeat of what was accepted by the code of that time.
  await (await events.get("waiting")).sendEvent({
    type: "note",
    payload: "again?",
    idempotencyKey: "event-2",
  });
  await (await values.get("rich")).sendEvent({ type: "sent", payload: everyValue });
  await (await branches.get("raced")).sendEvent({ type: "go", payload: "go" });
  await (await family.get("parent-child")).sendEvent({ type: "go", payload: "child goes" });
  expect(await harness.app.publish("news.daily", { issue: 1 }, { idempotencyKey: "publication-1" })).toEqual({
    waiters: 1,
  });
  expect(await harness.app.publish("news.daily", { issue: 2 }, { idempotencyKey: "publication-2" })).toEqual({
    waiters: 1,
  });
  await (await sleeps.get("paused")).resume();
  await (await steps.get("held-back")).resume();
  await (await fails.get("dead-letter")).retryFailedStep();
  await (await refuses.get("errored")).retryFailedStep();
  await (await held.get("crash-loop")).retryFailedStep();
  // Ended ones can begin again, with what was recorded of them.
  await (await sleeps.get("terminated")).restart({ from: "nap" });
  await harness.advance("30 days");
  expect(await harness.app.prune()).toBe(1);
}

async function outcomes(harness: Golden): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  for (const handle of Object.values(harness.workflows)) {
    const { items } = await handle.list({ pageSize: 100 });
    for (const { id, status, output, error, runNumber } of items) {
      const what = status === "complete" ? output : (error?.code ?? status);
      seen[id] = runNumber === 1 ? what : { runNumber, output: what };
    }
  }
  return seen;
}

const twoSteps = (id: string, first: string, second: string): string[] => [`${first} of ${id}`, second];

const expected: Record<string, unknown> = {
  "not-begun": ["step 1 of not-begun", "step 2 of not-begun"],
  later: ["step 1 of later"],
  "half-way": [1, 2, 3, 4].map((n) => `step ${n} of half-way`),
  "held-back": ["step 1 of held-back"],
  sleeping: twoSteps("sleeping", "before", "after of sleeping"),
  paused: twoSteps("paused", "before", "after of paused"),
  forked: twoSteps("restarted", "before", "after of forked"),
  restarted: { runNumber: 3, output: twoSteps("restarted", "before", "after of restarted") },
  terminated: { runNumber: 2, output: twoSteps("terminated", "before", "after of terminated") },
  retrying: twoSteps("retrying", "before", "at last"),
  waiting: [{ n: 1 }, "WAIT_FOR_EVENT_TIMEOUT", "after of waiting", "yes", { n: 2 }],
  heard: ["before of heard", { issue: 1 }],
  listening: ["before of listening", { issue: 2 }],
  left: twoSteps("left", "before", "done after all"),
  "crash-loop": twoSteps("crash-loop", "before", "done after all"),
  "cut-off": "STEP_INTERRUPTED",
  "dead-letter": twoSteps("dead-letter", "before", "repaired"),
  errored: twoSteps("errored", "before", "accepted"),
  complete: { params: everyValue, kept: everyValue, sent: everyValue },
  rich: { params: everyValue, kept: everyValue, sent: everyValue },
  raced: ["quick", ["inner 0", "inner 1"], "go"],
  parent: "parent-child",
  "parent-child": "child goes",
  ported: [1, 2],
};

/** Bodies that had not come to their end when the store was left, and no others. */
const startedAfterwards: readonly string[] = [
  "not-begun/step 1",
  "not-begun/step 2",
  "later/step 1",
  "half-way/step 3",
  "half-way/step 4",
  "held-back/step 1",
  "sleeping/after",
  "paused/after",
  "forked/after",
  "restarted/after",
  "terminated/after",
  "retrying/flaky",
  "left/long",
  "crash-loop/long",
  "dead-letter/failing",
  "errored/refused",
  "ported/again 2",
];
