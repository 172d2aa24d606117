/** A process whose workflows leave errors unhandled: node stray.ts <where>. Prints one JSON line if it survives. */
import { EventEmitter } from "node:events";
import { createWorkflows, defineWorkflow } from "everstep";
import { memory } from "everstep/memory";

const [where = ""] = process.argv.slice(2);

const careless = defineWorkflow({ name: "careless" }, async (_event, step) => {
  if (where === "unawaited helper") {
    const helper = async (): Promise<void> => {
      await step.do("fails", { retries: false }, async () => {
        throw new Error("nobody hears");
      });
    };
    void helper();
    await step.do("goes on", async () => "fine");
    await step.sleep("a moment", 20);
    return "done";
  }
  return step.do("body", { retries: { limit: 1, delay: 1 } }, async ({ attempt }) => {
    if (attempt === 2) return "done";
    return new Promise(() => {
      if (where === "timer") setTimeout(() => fail(), 1);
      if (where === "emitter")
        setTimeout(() => new EventEmitter().emit("error", new Error("nobody listens")), 1);
    });
  });
});

function fail(): never {
  throw new Error("nobody catches");
}

const neighbour = defineWorkflow({ name: "neighbour" }, async (_event, step) => {
  await step.sleep("a while", 100);
  return "unharmed";
});

const app = createWorkflows({ workflows: { careless, neighbour }, store: memory(), onNotice: () => {} });
await app.start();
const other = await app.workflows.neighbour.create();
const instance = await app.workflows.careless.create();
if (where === "host rejection") void Promise.reject(new Error("the host's own mistake"));
if (where === "host exception") setTimeout(() => fail(), 1);
const results = await Promise.all([other, instance].map((each) => each.result({ timeout: "60 seconds" })));
const lines = (await instance.logs()).items
  .filter(({ category }) => category === "system")
  .map(({ message }) => message);
await app.stop();
console.log(JSON.stringify({ outputs: results.map(({ output }) => output), lines }));
