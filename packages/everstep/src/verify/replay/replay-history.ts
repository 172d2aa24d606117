/** Runs one exported history against code, without a store: in a test, or under a debugger. */
import { decodeValue } from "../../authoring/codec.ts";
import type { WorkflowDefinition } from "../../authoring/define-workflow.ts";
import { type Duration, parseDuration } from "../../authoring/duration.ts";
import { fromStoredError } from "../../authoring/stored-error.ts";
import type { TurnScope } from "../../engine/turn-host.ts";
import { EverstepError } from "../../model/error.ts";
import type { Runtime } from "../../model/runtime.ts";
import type { StepStatus, StepType } from "../../model/step.ts";
import type { ReplayClassification } from "./classification.ts";
import type { ReplayFinding } from "./finding.ts";
import type { HistoryDocument } from "./history-document.ts";
import { guardAgainstStrayErrors, judge } from "./judge.ts";
import { readDocument } from "./read-document.ts";
import type { AskedStep } from "./rehearsal-host.ts";
import type { Rehearsal } from "./rehearse.ts";

export interface ReplayOptions {
  /** How long code that does not come to rest is waited for; default 2 seconds. Give more under a debugger. */
  readonly patience?: Duration;
}

export interface ReplayResult {
  readonly classification: ReplayClassification;
  /** The steps the function asked for, in order. */
  readonly asked: readonly AskedStepView[];
  /** What the function returned, if it did. */
  readonly output?: unknown;
  /** What it threw, if it did. */
  readonly error?: Error;
  readonly finding: ReplayFinding;
}

export interface AskedStepView {
  readonly stepKey: string;
  readonly name: string;
  readonly type: StepType;
  /** What the history has of it; null when it has nothing. */
  readonly recorded: StepStatus | null;
}

export const patienceDefault: Duration = "2 seconds";

export async function replayDocument(
  history: unknown,
  definition: WorkflowDefinition,
  runtime: Runtime,
  { patience = patienceDefault }: ReplayOptions = {},
): Promise<ReplayResult> {
  const document = readDocument(history);
  requireSameWorkflow(document, definition);
  const patienceMs = parseDuration(patience, "patience of replayHistory");
  const parts = { runtime, patienceMs, scope: runtime.createScope<TurnScope>() };
  const unguard = guardAgainstStrayErrors(parts);
  try {
    const { redacted } = document;
    const { finding, rehearsal } = await judge(document, definition, parts, { redacted });
    return {
      classification: finding.classification,
      asked: rehearsal.asked.map(askedView),
      ...endOf(rehearsal),
      finding,
    };
  } finally {
    unguard();
  }
}

function requireSameWorkflow(document: HistoryDocument, definition: WorkflowDefinition): void {
  if (typeof definition?.run !== "function") {
    throw new EverstepError(
      "INVALID_WORKFLOW_DEFINITION",
      "replayHistory needs a workflow as its second argument. Make it with defineWorkflow.",
    );
  }
  if (definition.name === document.workflowName) return;
  throw new EverstepError(
    "HISTORY_OF_OTHER_WORKFLOW",
    `This is a history of workflow "${document.workflowName}", not of "${definition.name}". ` +
      "Replay it against the workflow it belongs to.",
    { details: { recorded: document.workflowName, given: definition.name } },
  );
}

function askedView({ stepKey, name, type, record }: AskedStep): AskedStepView {
  return { stepKey, name, type, recorded: record?.status ?? null };
}

function endOf({ rest }: Rehearsal): Pick<ReplayResult, "output" | "error"> {
  if (rest.kind !== "ended") return {};
  const { outcome } = rest;
  if (outcome.kind === "complete") return { output: decodeValue(outcome.output) };
  return outcome.kind === "error" ? { error: fromStoredError(outcome.error) } : {};
}
