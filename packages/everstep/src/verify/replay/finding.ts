import type { InstanceStatus } from "../../model/instance.ts";
import type { StoredError } from "../../model/value.ts";
import type { ReplayClassification } from "./classification.ts";
import type { Comparison, Mismatch } from "./compare.ts";
import type { RecordedRun } from "./recorded-run.ts";
import { sentenceOn } from "./sentences.ts";

/** One instance, and what becomes of it under the code. Lists of steps are cut off after 50. */
export interface ReplayFinding {
  readonly workflowName: string;
  readonly instanceId: string;
  readonly runNumber: number;
  readonly status: InstanceStatus;
  readonly classification: ReplayClassification;
  /** What will happen when this code is deployed, and what to do about it. */
  readonly message: string;
  /** Steps the code asks for next that are not recorded. */
  readonly newSteps: readonly string[];
  /** Recorded steps the code has not asked for when it comes to rest. */
  readonly unusedSteps: readonly string[];
  /** Steps the code asks for after others that were recorded later. */
  readonly movedSteps: readonly string[];
  /** Steps recorded inside a body that has not completed, which only running it could check. */
  readonly uncheckedSteps: readonly string[];
  readonly mismatch?: Omit<Mismatch, "isError">;
  /** What the code throws. */
  readonly error?: { readonly name: string; readonly message: string; readonly code?: string };
}

type Subject = Pick<RecordedRun, "workflowName" | "instanceId" | "runNumber" | "status" | "steps">;

const maxSteps = 50;
const messageMax = 500;

export function findingOf(run: Subject, comparison: Comparison): ReplayFinding {
  const { classification, newSteps, unusedSteps, movedSteps, uncheckedSteps, mismatch, outcome } = comparison;
  return {
    ...identity(run),
    classification,
    message: sentenceOn(comparison, run.steps.length),
    newSteps: newSteps.slice(0, maxSteps),
    unusedSteps: unusedSteps.slice(0, maxSteps),
    movedSteps: movedSteps.slice(0, maxSteps).map(({ stepKey }) => stepKey),
    uncheckedSteps: uncheckedSteps.slice(0, maxSteps),
    ...(mismatch && {
      mismatch: { stepKey: mismatch.stepKey, recorded: mismatch.recorded, asked: mismatch.asked },
    }),
    ...(outcome?.kind === "error" && { error: errorOf(outcome.error) }),
  };
}

export function unknownWorkflow(run: Omit<Subject, "steps">): ReplayFinding {
  const message =
    `This code has no workflow "${run.workflowName}": the instance will wait until some process knows it again. ` +
    "Keep the workflow registered until its instances have ended.";
  return { ...identity(run), classification: "unknown", message, ...noSteps };
}

export function unreadableRun(run: Omit<Subject, "steps">, problem: unknown): ReplayFinding {
  return { ...identity(run), classification: "unreadable", message: unreadable(problem), ...noSteps };
}

const noSteps = { newSteps: [], unusedSteps: [], movedSteps: [], uncheckedSteps: [] } as const;

function identity({ workflowName, instanceId, runNumber, status }: Omit<Subject, "steps">) {
  return { workflowName, instanceId, runNumber, status };
}

function unreadable(problem: unknown): string {
  const detail = problem instanceof Error ? ` (${problem.message})` : "";
  return (
    `What is stored of it cannot be read${detail}: it will be errored with HISTORY_UNREADABLE. ` +
    "Repair its rows, or restart it."
  );
}

function errorOf({ name, message, code }: StoredError): NonNullable<ReplayFinding["error"]> {
  const shown = { name, message: message.slice(0, messageMax) };
  return code === undefined ? shown : { ...shown, code };
}
