/** A process that runs workflows, for measurements with several of them. */
import { createWorkflows } from "everstep";
import { forEachOf } from "../engine.ts";
import type { StoreName } from "../grounds/ground.ts";
import { openStore } from "../grounds/open-ground.ts";
import { tellProblem } from "../problems.ts";
import { fiveSteps } from "../workloads/five-steps.ts";
import { type Message, type Request, sharedNow } from "./messages.ts";
import { nudgedWorkflow } from "./nudged.ts";

const [store = "sqlite", key = ""] = process.argv.slice(2);

const nudged = nudgedWorkflow((instanceId, name) =>
  tell({ kind: "body", instanceId, name, at: sharedNow() }),
);
const app = createWorkflows({
  workflows: { fiveSteps, nudged },
  store: await openStore(store as StoreName, key),
  onProblem: tellProblem,
});

process.on("message", (request: Request) => {
  if (request.kind === "memory") return tell(memory());
  run(request).then(
    () => tell({ kind: "ran" }),
    (error: unknown) => tell({ kind: "failed", reason: String(error) }),
  );
});
process.once("SIGTERM", () => void app.stop().finally(() => process.exit(0)));
process.once("disconnect", () => process.exit(1));

await app.start();
tell({ kind: "ready" });

function memory(): Message {
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  return { kind: "memory", rssMb: rss / 1e6, heapMb: heapUsed / 1e6 };
}

async function run({ prefix, count, atOnce }: Extract<Request, { kind: "run" }>): Promise<void> {
  const results: Promise<unknown>[] = [];
  await forEachOf(count, atOnce, async (n) => {
    const instance = await app.workflows.fiveSteps.create({ id: `${prefix}-${n}` });
    results.push(instance.result());
  });
  await Promise.all(results);
}

function tell(message: Message): void {
  process.send?.(message);
}
