/** The process that streams: instances that wait, and instances of which each takes a step twice a second. */
import { setTimeout as passed } from "node:timers/promises";
import { bearerToken, createWorkflows, defineWorkflow } from "everstep";
import { serve } from "everstep/node";
import type { StoreName } from "../grounds/ground.ts";
import { openStore } from "../grounds/open-ground.ts";
import { tellProblem } from "../problems.ts";
import { type ServerMessage, token } from "./server-messages.ts";

const [store = "sqlite", key = ""] = process.argv.slice(2);

const idle = defineWorkflow({ name: "idle" }, async (_event, step) => {
  await step.waitForEvent("news", { type: "news", timeout: "1 day" });
});
const busy = defineWorkflow({ name: "busy" }, async (_event, step) => {
  await step.waitForEvent("begin", { type: "begin", timeout: "1 day" });
  for (let n = 0; n < 900; n++) await step.do(`step ${n}`, () => passed(500));
});
const app = createWorkflows({
  workflows: { idle, busy },
  store: await openStore(store as StoreName, key),
  authorize: bearerToken(token),
  runner: { concurrency: 500 },
  // All streams of the bench come from one client.
  http: { maxStreams: 10_000, maxStreamsPerClient: 10_000 },
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
  await app.stop({ grace: "2 seconds" });
  process.exit(0);
});
process.once("disconnect", () => process.exit(1));

tell({ kind: "ready", url: server.url });

function tell(message: ServerMessage): void {
  process.send?.(message);
}
