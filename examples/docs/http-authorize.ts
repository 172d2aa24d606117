/** Who may use the HTTP API: tokens, hooks of one's own, several audiences. */
import assert from "node:assert/strict";
import {
  type Authorize,
  bearerToken,
  createHandler,
  createWorkflows,
  defineWorkflow,
  refuse,
} from "everstep";
import { sqlite } from "everstep/sqlite";

const order = defineWorkflow({ name: "order" }, async (_event, step) => step.sleep("cool-off", "2 days"));
const env = {
  OLD_TOKEN: "old-0123456789abcdef",
  NEW_TOKEN: "new-0123456789abcdef",
  SCREEN_TOKEN: "screen-0123456789abcdef",
};

// #region tokens
const authorize = bearerToken({
  tokens: [env.NEW_TOKEN, env.OLD_TOKEN], // may do everything
  readOnlyTokens: env.SCREEN_TOKEN, // may look
});
// #endregion tokens

interface User {
  readonly name: string;
  readonly isAdmin: boolean;
}
const users = new Map<string | null, User>([
  ["session=1", { name: "ann", isAdmin: true }],
  ["session=2", { name: "bob", isAdmin: false }],
]);
const userOf = async (request: Request): Promise<User | undefined> =>
  users.get(request.headers.get("cookie"));

// #region hooks
const staff: Authorize = {
  async request({ request, state }) {
    const user = await userOf(request);
    if (!user) return refuse(401, "Sign in first.");
    state.set("user", user);
  },
  instanceCreation({ instances }) {
    if (instances.length > 10) return refuse(403, "Ten at a time, please.");
  },
  management({ action, workflowName, state }) {
    const user = state.get("user") as User;
    if (action === "terminate" && !user.isAdmin) return refuse(403, `Ask an admin to end a ${workflowName}.`);
  },
  runnerTick: () => refuse(403, "This is for the cron job."),
};
// #endregion hooks

const app = createWorkflows({ workflows: { ORDER: order }, store: sqlite("shop.db"), authorize });

// #region audiences
const forStaff = createHandler(app, { authorize: staff, basePath: "/admin/workflows" });
// Everybody who can reach it may tick; all other routes stay closed.
const forCron = createHandler(app, { authorize: { runnerTick() {} }, tick: true });
// #endregion audiences

const asked = async (
  handle: (request: Request) => Promise<Response>,
  path: string,
  headers: Record<string, string>,
  method = "GET",
): Promise<number> => (await handle(new Request(`http://shop.test${path}`, { method, headers }))).status;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

await app.workflows.ORDER.create({ id: "o-1" });
const pause = "/workflows/order/instances/o-1/pause";
assert.equal(await asked(app.fetch, "/workflows", {}), 401);
for (const token of Object.values(env))
  assert.equal(await asked(app.fetch, "/workflows", bearer(token)), 200);
assert.equal(await asked(app.fetch, pause, bearer(env.SCREEN_TOKEN), "POST"), 403);
assert.equal(await asked(app.fetch, pause, bearer(env.OLD_TOKEN), "POST"), 200);

const terminate = "/admin/workflows/workflows/order/instances/o-1/terminate";
assert.equal(await asked(forStaff, "/admin/workflows/instances", {}), 401);
assert.equal(await asked(forStaff, "/admin/workflows/instances", { cookie: "session=2" }), 200);
assert.equal(await asked(forStaff, terminate, { cookie: "session=2" }, "POST"), 403);
assert.equal(await asked(forStaff, terminate, { cookie: "session=1" }, "POST"), 200);

assert.equal(await asked(forCron, "/_runner/tick", {}, "POST"), 200);
assert.equal(await asked(forCron, "/instances", bearer(env.NEW_TOKEN)), 403);
await app.stop();
