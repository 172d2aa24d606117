import { bearerToken, createWorkflows } from "everstep";
import { toNodeHandler } from "everstep/node";
import { sqlite } from "everstep/sqlite";
import express from "express";
import { delivery, order } from "./shop.ts";

const app = createWorkflows({
  workflows: { ORDER: order, DELIVERY: delivery },
  store: sqlite("shop.db"),
  authorize: bearerToken(process.env.EVERSTEP_TOKEN),
  http: { basePath: "/api/workflows" },
});
await app.start();

// #region mount
const site = express();
site.use(express.json());
site.use("/api/workflows", toNodeHandler(app)); // made with http: { basePath: "/api/workflows" }
// #endregion mount
site.get("/", (_request, response) => void response.send("The shop is open."));

const server = site.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  const { port } = server.address() as { port: number };
  console.log(`http://127.0.0.1:${port}/api/workflows`);
});
