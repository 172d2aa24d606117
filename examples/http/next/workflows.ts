import { bearerToken, createWorkflows } from "everstep";
import { sqlite } from "everstep/sqlite";
import { delivery, order } from "../shop.ts";

export const app = createWorkflows({
  workflows: { ORDER: order, DELIVERY: delivery },
  store: sqlite(process.env.DATABASE_FILE ?? "shop.db"),
  authorize: bearerToken(process.env.EVERSTEP_TOKEN),
  http: { basePath: "/api/workflows" },
});
