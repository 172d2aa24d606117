import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { systemRuntime } from "../system-runtime.ts";
import type { HistoryDocument } from "../verify/replay/history-document.ts";
import { type ReplayOptions, type ReplayResult, replayDocument } from "../verify/replay/replay-history.ts";

/**
 * Runs a history that `instance.exportHistory()` gave against code, without a store: recorded steps answer from the
 * history, nothing else runs. Code outside of steps does run.
 */
export function replayHistory(
  history: HistoryDocument,
  workflow: WorkflowDefinition,
  options: ReplayOptions = {},
): Promise<ReplayResult> {
  return replayDocument(history, workflow, systemRuntime, options);
}
