/** The process that serves: an app with every setting as a user finds it, behind a token. */
import { bearerToken, createWorkflows, defineWorkflow } from "everstep";
import { serve } from "everstep/node";
import type { StoreName } from "../grounds/ground.ts";
import { openStore } from "../grounds/open-ground.ts";
import { tellProblem } from "../problems.ts";
import { type ServerMessage, token } from "./server-messages.ts";

const [store = "sqlite", key = ""] = process.argv.slice(2);

const order = defineWorkflow<{ readonly n: number }, number>({ name: "order" }, async ({ payload }, step) =>
  step.do("double", async () => payload.n * 2),
);
const app = createWorkflows({
  workflows: { order },
  store: await openStore(store as StoreName, key),
  authorize: bearerToken(token),
  onProblem: tellProblem,
});
await app.start();
const server = await serve(app, { port: 0, onProblem: tellProblem });

process.on("message", () => {
  const { user, system } = process.cpuUsage();
  tell({ kind: "usage", cpuUs: user + system, memoryMiB: process.memoryUsage.rss() / 2 ** 20 });
});
process.once("SIGTERM", async () => {
  await server.close();
  await app.stop();
  process.exit(0);
});
process.once("disconnect", () => process.exit(1));

tell({ kind: "ready", url: server.url });

function tell(message: ServerMessage): void {
  process.send?.(message);
}
