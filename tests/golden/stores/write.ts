/** Fills a store with one instance in every state that a process can leave behind. Always the same, by its own clock. */
import type { Store } from "everstep/store";
import { createTestHarness } from "everstep/testing";
import { cast, everyValue } from "./cast.ts";

/** What the clock says when the last process has gone. */
export const writtenUntil: number = Date.UTC(2026, 0, 5);

export async function writeGoldenStore(open: () => Store): Promise<void> {
  const workflows = cast({ started: [], isBeingWritten: true });
  const harness = createTestHarness({
    workflows,
    store: open,
    now: new Date("2026-01-01T00:00:00Z"),
    seed: "golden",
    runner: { maxResidents: 0 },
    limits: { maxCrashes: 2 },
  });
  const { steps, sleeps, retries, events, topics, held, once } = harness.workflows;
  const { fails, refuses, values, branches, family, ported } = harness.workflows;

  // Given up: by its crashes, and by its retries.
  await held.create({ id: "crash-loop" });
  for (let crash = 0; crash < 4; crash++) {
    await harness.runner(`doomed ${crash}`).tick();
    harness.runner(`doomed ${crash}`).kill();
    await harness.clock.advance("10 minutes");
  }
  await harness.runUntilIdle();
  await fails.create({ id: "dead-letter" });
  await harness.advance("5 minutes");
  await refuses.create({ id: "errored" });
  await harness.runUntilIdle();

  // Ended: each in its own way.
  const complete = await values.create({ id: "complete", params: everyValue });
  await harness.runUntilIdle();
  await complete.sendEvent({ type: "sent", payload: everyValue, idempotencyKey: "event-complete" });
  await harness.runUntilIdle();
  const terminated = await sleeps.create({ id: "terminated" });
  await harness.runUntilIdle();
  await terminated.terminate({ reason: "nobody needs it" });
  await steps.create({ id: "expiring", params: { count: 1 }, retention: "2 days" });
  await harness.runUntilIdle();

  // Restarted: a run that completed, one that was ended, and one that will wait.
  const restarted = await sleeps.create({ id: "restarted" });
  await harness.advance("1 day");
  await restarted.restart();
  await harness.runUntilIdle();

  // Waiting: for events that came and events that did not, with others that nobody has asked for yet.
  const waiting = await events.create({ id: "waiting" });
  await waiting.sendEvent({ type: "note", payload: { n: 1 }, idempotencyKey: "event-1" });
  await harness.advance("2 hours");
  await waiting.sendEvent({ type: "note", payload: { n: 2 }, idempotencyKey: "event-2" });
  await waiting.sendEvent({ type: "other", payload: "nobody asked", idempotencyKey: "event-3" });
  await values.create({ id: "rich", params: everyValue });
  await harness.runUntilIdle();
  await topics.create({ id: "heard" });
  await harness.runUntilIdle();
  await harness.app.publish("news.daily", { issue: 1 }, { idempotencyKey: "publication-1" });
  await harness.runUntilIdle();
  await topics.create({ id: "listening" });
  await branches.create({ id: "raced" });
  await harness.advance("1 minute");
  await family.create({ id: "parent", params: {} });
  await harness.runUntilIdle();
  const paused = await sleeps.create({ id: "paused" });
  await harness.runUntilIdle();
  await paused.pause();
  await paused.sendEvent({ type: "note", payload: "while paused", idempotencyKey: "event-4" });
  await (await steps.create({ id: "held-back", params: { count: 1 } })).pause();

  // Under way: the clock comes to its end before anything of this is due.
  await harness.advanceTo(writtenUntil);
  await restarted.restart({ from: "nap" });
  await harness.runUntilIdle();
  await restarted.fork({ newId: "forked", from: "nap" });
  await sleeps.create({ id: "sleeping" });
  await ported.create({ id: "ported" });
  await retries.create({ id: "retrying" });
  await harness.runUntilIdle();
  await held.create({ id: "left" });
  await once.create({ id: "cut-off" });
  const gone = harness.runner("gone");
  await gone.tick();
  gone.kill();
  await steps.create({ id: "half-way", params: { count: 4 } });
  await harness.tick({ maxSteps: 2 });
  await steps.create({ id: "not-begun", params: { count: 2 } });
  await steps.create({ id: "later", params: { count: 1 }, startAt: writtenUntil + 60 * 60 * 1000 });
  await harness.stop();
}
