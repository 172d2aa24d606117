/** A process that hosts an app and answers over IPC: node host.ts <store> <place> <ifInterrupted>. */
import "../support/keep-compiled.ts";
import { createWorkflows, defineWorkflow } from "everstep";
import { openPlace } from "./place.ts";

const [storeName = "", place = "", ifInterrupted = "retry"] = process.argv.slice(2);

export const patient = defineWorkflow({ name: "patient" }, async (event, step) => {
  const first = await step.do("first", async () => process.pid);
  if (event.payload.sleep) await step.sleep("nap", event.payload.sleep);
  if (event.payload.hang) {
    const second = await step.do("hang", async ({ attempt }) => {
      process.send?.({ hanging: event.instanceId });
      if (attempt === 1) await new Promise(() => setInterval(() => {}, 1000));
      return process.pid;
    });
    return { first, second };
  }
  return { first };
});

const app = createWorkflows({
  workflows: { PATIENT: patient },
  store: openPlace(storeName, place),
  // So long that nobody in a test ever waits for its end.
  runner: { lease: "1 hour" },
  // The servers of tests need not keep anything.
  onProblem: (problem) => {
    if ((problem as { code?: string }).code !== "STORE_UNSAFE") console.error(problem);
  },
  ifInterrupted: ifInterrupted as "retry" | "fail",
});
await app.start();
process.send?.({ started: process.pid });
