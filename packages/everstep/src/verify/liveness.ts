import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { formatDuration } from "../authoring/duration.ts";
import { type InstanceRecord, isTerminal } from "../model/instance.ts";

export type Liveness =
  /** Due for long, and nobody claims it. */
  | "overdue"
  /** Its runner died or hangs, and nobody has taken over. */
  | "lease-ran-out"
  /** Nobody here has the code for it. */
  | "stranded"
  /** Whoever runs it dies; it will be given up soon. */
  | "crashing";

/** Something that is not wrong in itself but does not go on as it should. */
export interface Standstill {
  readonly kind: Liveness;
  readonly promise: string;
  readonly message: string;
}

export interface LivenessTerms {
  readonly now: number;
  /** How long a run may be late. */
  readonly overdueMs: number;
  readonly definition: WorkflowDefinition | undefined;
}

/** Why a current run does not get on, if it does not. */
export function* standstills(record: InstanceRecord, terms: LivenessTerms): Generator<Standstill> {
  const { status, workflowName, dueAt, executing, crashCount } = record;
  if (isTerminal(status)) return;
  const { definition, now, overdueMs } = terms;
  if (definition === undefined) {
    yield {
      kind: "stranded",
      promise: "LIV-1",
      message: `This app has no workflow "${workflowName}". If no other app on this store has it, nobody will run this.`,
    };
  }
  const lateMs = status === "paused" || dueAt === null ? 0 : now - dueAt;
  if (definition !== undefined && lateMs > overdueMs)
    yield executing ? ranOut(lateMs) : overdue(lateMs, definition);
  const { maxCrashes } = definition?.limits ?? { maxCrashes: Number.POSITIVE_INFINITY };
  if (crashCount > 0 && crashCount * 2 >= maxCrashes) {
    yield {
      kind: "crashing",
      promise: "INV-14",
      message: `Its runners died ${crashCount} times in a row without progress; at ${maxCrashes} it is given up.`,
    };
  }
}

function ranOut(lateMs: number): Standstill {
  return {
    kind: "lease-ran-out",
    promise: "LIV-2",
    message: `Its lease ran out ${spoken(lateMs)} ago: its runner died or hangs, and no other has claimed it. Is one running?`,
  };
}

function overdue(lateMs: number, { name, options: { concurrency } }: WorkflowDefinition): Standstill {
  const cap = concurrency === undefined ? "" : ` At most ${concurrency} of "${name}" run at once.`;
  return {
    kind: "overdue",
    promise: "LIV-1",
    message: `It has been due for ${spoken(lateMs)}, and no runner has claimed it. Is one running?${cap}`,
  };
}

/** In whole seconds, so that it is read at a glance. */
function spoken(ms: number): string {
  return formatDuration(Math.round(ms / 1000) * 1000);
}
