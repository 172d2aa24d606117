import { bearerToken, createWorkflows } from "everstep";
import { serve } from "everstep/node";
import { sqlite } from "everstep/sqlite";
import { delivery, order } from "./shop.ts";

const app = createWorkflows({
  workflows: { ORDER: order, DELIVERY: delivery },
  store: sqlite("shop.db"),
  authorize: bearerToken(process.env.EVERSTEP_TOKEN),
  http: { tick: true },
});
await app.start(); // leave it out where another process runs the instances
const server = await serve(app, { port: Number(process.env.PORT ?? 4610) });
console.log(server.url);

process.once("SIGTERM", async () => {
  await server.close();
  await app.stop();
});
