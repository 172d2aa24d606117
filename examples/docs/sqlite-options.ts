/** The SQLite store with every option said. */
import assert from "node:assert/strict";
import { createWorkflows, defineWorkflow } from "everstep";
import { sqlite } from "everstep/sqlite";

const hello = defineWorkflow({ name: "hello" }, async (_event, step) =>
  step.do("greet", async () => "hello"),
);

// #region options
const store = sqlite({
  path: "app.db", // a file on a local disk, or ":memory:"
  synchronous: "full",
  busyTimeoutMs: 250,
  namespace: "everstep", // the tables are everstep_instance, everstep_run, ...
});
// #endregion options

const app = createWorkflows({ workflows: { HELLO: hello }, store });
await app.start();
const instance = await app.workflows.HELLO.create({ id: "h-1" });
assert.deepEqual(await instance.result(), { status: "complete", output: "hello", timedOut: false });

// Another namespace in the same file knows nothing of it.
const other = createWorkflows({
  workflows: { HELLO: hello },
  store: sqlite({ path: "app.db", namespace: "other" }),
});
await assert.rejects(other.workflows.HELLO.get("h-1"), { code: "INSTANCE_NOT_FOUND" });
await other.stop();
await app.stop();
