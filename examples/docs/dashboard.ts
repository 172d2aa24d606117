/** The dashboard, switched on where the app is made. */
import assert from "node:assert/strict";
import { bearerToken, createWorkflows, defineWorkflow } from "everstep";
import { dashboard } from "everstep/dashboard";
import { serve } from "everstep/node";
import { sqlite } from "everstep/sqlite";

const order = defineWorkflow({ name: "order" }, async (_event, step) => step.sleep("cool-off", "2 days"));
const env = { EVERSTEP_TOKEN: "all-0123456789abcdef", SCREEN_TOKEN: "screen-0123456789abcdef", PORT: "0" };

// #region serve
const app = createWorkflows({
  workflows: { ORDER: order },
  store: sqlite("shop.db"),
  authorize: bearerToken({ tokens: env.EVERSTEP_TOKEN, readOnlyTokens: env.SCREEN_TOKEN }),
  http: { dashboard },
});
await app.start();
const server = await serve(app, { port: Number(env.PORT ?? 4610) });
// #endregion serve

const page = await fetch(new URL("dashboard/instances/order/o-1", server.url));
assert.equal(page.status, 200);
assert.match(await page.text(), /<base href="\.\.\/\.\.\/"/);
await server.close();
await app.stop();
