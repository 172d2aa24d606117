import type { WhyView } from "../handles/views.ts";
import { lastAction } from "./last-action.ts";
import type { StoredInstance } from "./stored-instance.ts";
import { explain } from "./why.ts";
import { whyWarnings } from "./why-warnings.ts";

/** The newest lines of a log in which it looks for what it tells: a log may have hundreds of thousands. */
const linesLookedAt = 100;

/** Why an instance is not moving, with what was last done to it and what else is worth a look. */
export async function askWhy(instance: StoredInstance): Promise<WhyView> {
  const { definition, parts } = instance;
  const { runtime, runner, reads } = parts;
  const record = await instance.read();
  const steps = await instance.steps(record.runId, { brief: true });
  const begun = runner.begunOf(record.runId) ?? record.begun;
  const { items: newest } = await reads.listLogs(record.runId, { order: "desc", limit: linesLookedAt });
  const terms = {
    now: runtime.now(),
    definition,
    runnerRuns: runner.isRunning,
    leaseMs: runner.leaseMs,
    isHere: runner.hasTurn(record.runId),
    lastAction: lastAction(newest),
  };
  const why = explain({ ...record, begun }, steps, terms);
  const warnings = await whyWarnings(reads, record.runId, why, newest);
  return warnings.length === 0 ? why : { ...why, warnings };
}
