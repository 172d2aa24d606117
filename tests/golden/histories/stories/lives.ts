/** Instances that begin again, and classes written for Cloudflare. */
import { defineWorkflow } from "everstep";
import { defineEntrypoint, type WorkflowEvent, type WorkflowStep } from "everstep/cloudflare";
import { handleOf, type Story } from "../story.ts";

const again = defineWorkflow({ name: "golden-again" }, async (event, step) => {
  const first = await step.do("first", async ({ idempotencyKey }) => idempotencyKey);
  const [second, third] = await Promise.all([
    step.do("second", async ({ idempotencyKey }) => idempotencyKey),
    step.do("third", async ({ idempotencyKey }) => idempotencyKey),
  ]);
  await step.sleep("nap", "1 hour");
  const last = await step.do("last", async ({ idempotencyKey }) => idempotencyKey);
  return { first, second, third, last, timestamp: event.timestamp, id: event.instanceId };
});

class Order {
  async run(event: WorkflowEvent<{ rounds: number }>, step: WorkflowStep) {
    const seen: unknown[] = [];
    for (let round = 0; round < event.payload.rounds; round++) {
      seen.push(await step.do("round", async () => round));
      await step.sleep("pause", "5 minutes");
    }
    await step.sleep("pause", "10 minutes");
    const outer = await step.do("outer", async () => step.do("inner", async () => "nested"));
    const approved = await step.waitForEvent<{ by: string }>("approved", {
      type: "approved",
      timeout: "1 hour",
    });
    const failed = await step
      .do("fails", { retries: { limit: 1, delay: "1 second" } }, async () => {
        throw new Error("as on Cloudflare");
      })
      .catch((error: Error) => `${error.name}: ${error.message}`);
    return { seen, outer, by: approved.payload.by, failed };
  }
}

const cloudflare = defineEntrypoint({ name: "golden-cloudflare" }, Order);

export const lives: readonly Story[] = [
  {
    name: "again",
    workflows: { W: again },
    async play(harness, keep) {
      const handle = handleOf(harness, "W");
      const instance = await handle.create({ id: "again" });
      await harness.advance("2 hours");
      await keep("first-run", instance);
      await instance.restart({ from: "second" });
      await harness.runUntilIdle();
      await keep("second-run", instance);
      const forked = await instance.fork({ from: "nap", newId: "forked" });
      await harness.runUntilIdle();
      await keep("forked", forked);
      await harness.advance("2 hours");
      await keep("forked-complete", forked);
      await keep("second-run-complete", instance);
      await instance.restart();
      await harness.runUntilIdle();
      await instance.terminate({ reason: "enough" });
      await keep("terminated", instance);
      await keep("first-run-later", instance, 1);
    },
  },
  {
    name: "cloudflare",
    workflows: { W: cloudflare },
    async play(harness, keep) {
      const instance = await handleOf(harness, "W").create({ id: "cloudflare", params: { rounds: 2 } });
      await harness.advance("6 minutes");
      await keep("second-round", instance);
      await harness.advance("20 minutes");
      await keep("waiting", instance);
      await instance.sendEvent({ type: "approved", idempotencyKey: "event-1", payload: { by: "ann" } });
      await harness.advance("1 hour");
      await keep("complete", instance);
    },
  },
];
