/** A worker: a process of its own that runs whatever is due in the store. This is all it takes. */
import { createWorkflows } from "everstep";
import { leaseSeconds, openStore, type StoreName } from "./stores.ts";
import { fulfilOrder } from "./workflow.ts";

const [name = "sqlite", place = "demo.db"] = process.argv.slice(2);

const store = await openStore(name as StoreName, place);
const lease = leaseSeconds(store);
const app = createWorkflows({
  workflows: { fulfilOrder },
  store,
  runner: lease === null ? {} : { lease: `${lease} seconds` },
  // The parent's screen shows what happens; a line of ours would only disturb it.
  onNotice: () => {},
});
await app.start();

process.once("SIGTERM", async () => {
  await app.stop();
  process.exit();
});

// The demo ends its workers itself, also after Ctrl-C; should it die, its end of the pipe closes.
process.on("SIGINT", () => {});
process.stdin.on("end", () => process.exit(1)).resume();
