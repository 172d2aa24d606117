import { createWorkflows } from "everstep";
import { sqlite } from "everstep/sqlite";
import { order } from "./order.ts";

const app = createWorkflows({ workflows: { ORDER: order }, store: sqlite("shop.db") });
await app.start();
const instance = await app.workflows.ORDER.create({
  id: "order-1",
  params: { amount: 42 },
  ifExists: "return",
});
console.log(await instance.result());
await app.stop();
