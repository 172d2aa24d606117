import { bearerToken, createWorkflows } from "everstep";
import { serve } from "everstep/node";
import { sqlite } from "everstep/sqlite";
import { Hono } from "hono";
import { delivery, order } from "./shop.ts";

const app = createWorkflows({
  workflows: { ORDER: order, DELIVERY: delivery },
  store: sqlite("shop.db"),
  authorize: bearerToken(process.env.EVERSTEP_TOKEN),
});
await app.start();

// #region mount
const site = new Hono();
site.mount("/api/workflows", app.fetch);
// #endregion mount
site.get("/", (context) => context.text("The shop is open."));

// On Node any server for functions of the web's standard will do. Elsewhere: export default site.
const { url } = await serve(site, { port: Number(process.env.PORT ?? 3000) });
console.log(`${url}api/workflows`);
