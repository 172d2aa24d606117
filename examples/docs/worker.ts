/** A process that runs workflows until it is told to stop. */
import { createWorkflows, defineWorkflow } from "everstep";
import { sqlite } from "everstep/sqlite";

const cleanUp = defineWorkflow({ name: "clean-up" }, async (_event, step) =>
  step.do("sweep", async () => "clean"),
);

// #region worker
const app = createWorkflows({
  workflows: { CLEAN_UP: cleanUp },
  store: sqlite("app.db"),
  runner: {
    concurrency: 50, // instances that execute here at once
    lease: "30 seconds",
    poll: "1 second",
    minPoll: "500 ms",
    maxPoll: "30 seconds",
    maxResidents: 1000,
  },
  ifInterrupted: "retry",
  onProblem: (problem) => console.error("workflows:", problem),
});
await app.start();

process.once("SIGTERM", async () => {
  const { finished, released } = await app.stop({ grace: "20 seconds" });
  console.log(`stopped: ${finished} finished, ${released} given back`);
});
// #endregion worker

console.log("started");
// Nobody sends a signal to an example.
if (process.env.STAY === undefined) process.kill(process.pid, "SIGTERM");
