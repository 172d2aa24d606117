/** A process that runs instances until it is killed: node worker.ts <database> <ledger>. */
import "../support/keep-compiled.ts";
import { createWorkflows } from "everstep";
import { sqlite } from "everstep/sqlite";
import { programs } from "./program.ts";

const [database = "", ledger = ""] = process.argv.slice(2);
const app = createWorkflows({ workflows: programs(ledger), store: sqlite(database), onNotice: () => {} });
await app.start();
process.send?.("started");
process.once("SIGTERM", () => void app.stop().then(() => process.exit(0)));
