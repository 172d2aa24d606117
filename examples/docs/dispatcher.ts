/** A host without a loop that is set going by its own writes: each calls the tick route. */
import assert from "node:assert/strict";
import { bearerToken, createWorkflows, defineWorkflow } from "everstep";
import { sqlite } from "everstep/sqlite";

const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  await step.do("charge", async () => "charged");
  await step.waitForEvent("approval", { type: "approved" });
  return step.do("ship", async () => "shipped");
});
const token = "a-secret-of-32-characters-at-least";
const tickUrl = "https://app.example/api/workflows/_runner/tick";
const calls: Promise<Response>[] = [];
const fetch = (url: string, init: RequestInit): Promise<Response> => {
  const call = app.fetch(new Request(url, init));
  calls.push(call);
  return call;
};

// #region dispatcher
const app = createWorkflows({
  workflows: { ORDER: order },
  store: sqlite("app.db"),
  authorize: bearerToken(token),
  http: { basePath: "/api/workflows", tick: true },
  dispatcher: {
    async wake({ dueAt }) {
      if (dueAt) return; // for later: the cron job's
      await fetch(tickUrl, { method: "POST", headers: { authorization: `Bearer ${token}` } });
    },
  },
});
// #endregion dispatcher

const quiet = async () => {
  while (calls.length > 0) assert.equal((await calls.shift())?.status, 200);
};
const instance = await app.workflows.ORDER.create({ id: "o-1" });
await quiet();
assert.equal((await instance.status()).status, "waiting");
await instance.sendEvent({ type: "approved" });
await quiet();
assert.deepEqual(await instance.status(), { status: "complete", output: "shipped" });
await app.stop();
