/** Looks on while an app works: how attempts end, and how much time the store takes. */
import assert from "node:assert/strict";
import { createWorkflows, defineWorkflow, type Observer } from "everstep";
import { memory } from "everstep/memory";

const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  await step.do("charge", { retries: { limit: 2, delay: 10 } }, async ({ attempt }) => {
    if (attempt === 1) throw new Error("no answer");
  });
});

// #region observe
class Numbers implements Observer {
  readonly attempts: Record<string, number> = {};
  storeMs = 0;

  onAttemptEnd(_attempt: unknown, { outcome }: { readonly outcome: string }): void {
    this.attempts[outcome] = (this.attempts[outcome] ?? 0) + 1;
  }

  onStoreCallEnd(_call: unknown, { durationMs }: { readonly durationMs: number }): void {
    this.storeMs += durationMs;
  }
}

const numbers = new Numbers();
const app = createWorkflows({ workflows: { ORDER: order }, store: memory(), observers: [numbers] });
// #endregion observe

await app.start();
await (await app.workflows.ORDER.create()).result();
await app.stop();
assert.deepEqual(numbers.attempts, { failed: 1, completed: 1 });
