/** Sleeps, events, topics, and other instances. */
import { defineWorkflow } from "everstep";
import { handleOf, type Story } from "../story.ts";

const sleeps = defineWorkflow({ name: "golden-sleeps" }, async (event, step) => {
  await step.sleep("short", 1);
  await step.sleepUntil("until", event.timestamp.getTime() + 90 * 60_000);
  await step.sleepUntil("long ago", 0);
  await step.sleep("skipped", "30 days");
  await step.sleep("last", "1 week");
  return event.timestamp;
});

const events = defineWorkflow({ name: "golden-events" }, async (_event, step) => {
  const early = await step.waitForEvent<{ n: bigint }>("early", { type: "early" });
  const missed = await step
    .waitForEvent("missed", { type: "missed", timeout: "10 minutes" })
    .catch((error: Error & { code?: string }) => error.code);
  const loop: unknown[] = [];
  for (let n = 0; n < 2; n++) loop.push((await step.waitForEvent(`loop ${n}`, { type: "loop" })).payload);
  const [topic] = await Promise.all([
    step.waitForEvent<string>("topic", { topic: "prices.eur" }),
    step.waitForEvent("never", { type: "never", timeout: "1 day" }).catch(() => null),
  ]);
  return { early: early.payload.n, at: early.timestamp, missed, loop, topic: [topic.type, topic.payload] };
});

const child = defineWorkflow({ name: "golden-child" }, async ({ payload }, step) => {
  await step.do("answer", async ({ sendEvent }) => {
    sendEvent(
      { workflow: "golden-parent", id: payload.parent },
      { type: "answer", payload: { n: payload.n * 2 } },
    );
  });
  return payload.n;
});

const parent = defineWorkflow({ name: "golden-parent" }, async ({ instanceId }, step) => {
  const id = await step.do("start child", async ({ startWorkflow }) =>
    startWorkflow("golden-child", { id: "child", params: { parent: instanceId, n: 21 } }),
  );
  const { payload } = await step.waitForEvent<{ n: number }>("answer", { type: "answer" });
  return { id, n: payload.n };
});

export const waits: readonly Story[] = [
  {
    name: "sleeps",
    workflows: { W: sleeps },
    async play(harness, keep) {
      const instance = await handleOf(harness, "W").create({ id: "sleeps" });
      await harness.advance("1 hour");
      await keep("until", instance);
      await harness.advance("1 hour");
      await instance.skipSleep();
      await harness.runUntilIdle();
      await keep("skipped", instance);
      await instance.pause();
      await keep("paused", instance);
      await instance.resume();
      await harness.advance("8 days");
      await keep("complete", instance);
    },
  },
  {
    name: "events",
    workflows: { W: events },
    async play(harness, keep) {
      const instance = await handleOf(harness, "W").create({ id: "events" });
      await instance.sendEvent({ type: "early", idempotencyKey: "event-1", payload: { n: 1n } });
      await instance.sendEvent({ type: "loop", idempotencyKey: "event-2", payload: "buffered" });
      await harness.runUntilIdle();
      await keep("waiting", instance);
      await harness.advance("1 hour");
      await keep("timed-out", instance);
      await instance.sendEvent({ type: "loop", idempotencyKey: "event-3", payload: undefined });
      await harness.runUntilIdle();
      await keep("on-topic", instance);
      await harness.app.publish("prices.eur", "1.10", { idempotencyKey: "publication-1" });
      await harness.advance("2 days");
      await keep("complete", instance);
    },
  },
  {
    name: "children",
    workflows: { PARENT: parent, CHILD: child },
    async play(harness, keep) {
      const instance = await handleOf(harness, "PARENT").create({ id: "parent" });
      await harness.runUntilIdle();
      await keep("parent", instance);
      await keep("child", await handleOf(harness, "CHILD").get("child"));
    },
  },
];
