/**
 * A process that runs instances until it is told to stop or is killed: node runner-process.ts <task as JSON>. It goes
 * with the process that started it.
 */
import "../support/keep-compiled.ts";
import { createWorkflows, EverstepError, StoreError } from "everstep";
import { startHeartbeat } from "./heartbeat.ts";
import { openLedger, type ProblemLine } from "./ledger.ts";
import { openStore, type StoreKind } from "./open-store.ts";
import { type ProgramName, programOf } from "./programs.ts";
import { monotonic } from "./time.ts";

export interface RunnerTask {
  readonly kind: StoreKind;
  readonly address: string;
  readonly folder: string;
  readonly program: ProgramName;
  readonly leaseMs: number;
  readonly pollMs: number;
  readonly maxResidents: number;
  readonly ifInterrupted?: "retry" | "fail";
}

/** `awake`: it can be asked to stop. `started`: it runs instances. */
export type RunnerMessage = "awake" | "started";

let stopping = false;
const task = JSON.parse(process.argv[2] ?? "") as RunnerTask;
const { leaseMs, pollMs, maxResidents, ifInterrupted = "retry" } = task;
const ledger = openLedger(task.folder);

const app = createWorkflows({
  workflows: programOf(task.program, ledger),
  store: await openStore(task.kind, task.address),
  runner: { concurrency: 60, lease: leaseMs, poll: pollMs, minPoll: pollMs, maxPoll: pollMs, maxResidents },
  ifInterrupted,
  onNotice: () => {},
  onProblem: (problem) => ledger.write(problemLine(problem)),
});
process.on("disconnect", () => process.exit(3));
// It may be told so more than once.
process.on("SIGTERM", async () => {
  stopping = true;
  await app.stop({ grace: 2000 });
  process.exit(0);
});
process.send?.("awake" satisfies RunnerMessage);
startHeartbeat(task.folder, ledger);
try {
  await app.start();
} catch (problem) {
  // Whoever is told to stop while it starts does not start.
  if (!stopping) throw problem;
}
process.send?.("started" satisfies RunnerMessage);

function problemLine(problem: unknown): ProblemLine {
  const error = problem instanceof Error ? problem : new Error(String(problem));
  const code = error instanceof EverstepError ? error.code : error.name;
  const retryable = error instanceof StoreError && error.retryable;
  const { pid } = process;
  return { kind: "problem", pid, at: monotonic(), code, retryable, message: withCauses(error) };
}

function withCauses(error: Error): string {
  return error.cause instanceof Error ? `${error.message} <- ${withCauses(error.cause)}` : error.message;
}
