import type { WorkflowDefinition } from "../../authoring/define-workflow.ts";
import { type ComparisonOptions, compare } from "./compare.ts";
import { findingOf, type ReplayFinding, unreadableRun } from "./finding.ts";
import type { RecordedRun } from "./recorded-run.ts";
import { type Rehearsal, type RehearsalParts, rehearse } from "./rehearse.ts";

export interface Judgement {
  readonly finding: ReplayFinding;
  readonly rehearsal: Rehearsal;
}

/** What becomes of a recorded run under some code. */
export async function judge(
  run: RecordedRun,
  definition: WorkflowDefinition,
  parts: RehearsalParts,
  options: ComparisonOptions = {},
): Promise<Judgement> {
  const rehearsal = await rehearse(run, definition, parts);
  const { asked, rest } = rehearsal;
  const finding =
    rest.kind === "unreadable"
      ? unreadableRun(run, rest.problem)
      : findingOf(run, compare(run, { asked, rest }, options));
  return { finding, rehearsal };
}

/** While this holds, what author code leaves behind does not take the process down. Gives the way to stop. */
export function guardAgainstStrayErrors({ runtime, scope }: RehearsalParts): () => void {
  return runtime.onStrayError?.(() => scope.current() !== undefined) ?? (() => {});
}
