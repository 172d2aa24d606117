/** What the code asked for beside what is recorded. Pure. */
import type { RunOutcome } from "../../engine/ending.ts";
import { isTerminal } from "../../model/instance.ts";
import type { StepRecord } from "../../model/step.ts";
import type { ReplayClassification } from "./classification.ts";
import type { RecordedRun } from "./recorded-run.ts";
import type { AskedStep } from "./rehearsal-host.ts";
import type { Rehearsal, Rest } from "./rehearse.ts";
import { sameOutcome } from "./same-outcome.ts";

/** What two readings of a run can come to. */
export type ComparedAs = Exclude<ReplayClassification, "unknown" | "unreadable">;

export interface Comparison {
  readonly classification: ComparedAs;
  /** Steps the code asked for that are not recorded. */
  readonly newSteps: readonly string[];
  /** Recorded steps it had not asked for when it came to rest. */
  readonly unusedSteps: readonly string[];
  /** Steps it asked for after others that were recorded later. */
  readonly movedSteps: readonly MovedStep[];
  /** Recorded inside a body that has not completed: nobody knows without running it. */
  readonly uncheckedSteps: readonly string[];
  readonly mismatch: Mismatch | null;
  /** How the function ended, if it did. */
  readonly outcome: RunOutcome | null;
}

export interface MovedStep {
  readonly stepKey: string;
  /** The step it came after. */
  readonly after: string;
}

export interface Mismatch {
  readonly stepKey: string;
  /** In words: `do`, `waitForEvent of type "paid"`. */
  readonly recorded: string;
  readonly asked: string;
  /** The engine reports it as an error; otherwise the wait may never be over. */
  readonly isError: boolean;
}

export interface ComparisonOptions {
  /** Values were replaced, so an outcome that depends on them cannot be compared. */
  readonly redacted?: boolean;
}

/** A rehearsal that could read what is recorded. */
export type ReadableRehearsal = Rehearsal & { readonly rest: Exclude<Rest, { kind: "unreadable" }> };

export function compare(
  run: RecordedRun,
  rehearsal: ReadableRehearsal,
  { redacted = false }: ComparisonOptions = {},
): Comparison {
  const asked = new Set(rehearsal.asked.map(({ stepKey }) => stepKey));
  const outcome = rehearsal.rest.kind === "ended" ? rehearsal.rest.outcome : null;
  const facts = {
    newSteps: newSteps(run, rehearsal.asked),
    unusedSteps: unusedSteps(run, asked),
    movedSteps: movedSteps(rehearsal.asked),
    uncheckedSteps: run.steps.filter((step) => isInsideOpenBody(step, run, asked)).map(({ key }) => key),
    mismatch: rehearsal.asked.map(mismatchOf).find((found) => found !== null) ?? null,
    outcome,
  };
  return { classification: classify(run, rehearsal, facts, redacted), ...facts };
}

type Facts = Omit<Comparison, "classification">;

function classify(run: RecordedRun, { rest }: Rehearsal, facts: Facts, redacted: boolean): ComparedAs {
  if (facts.mismatch || isMismatch(facts.outcome)) return "mismatch";
  if (rest.kind === "stuck") return "stuck";
  if (rest.kind === "ended") return classifyEnd(run, rest.outcome, facts, redacted);
  return disorder(facts) ?? classifyOpen(run, facts);
}

function classifyOpen(run: RecordedRun, { newSteps }: Facts): ComparedAs {
  if (newSteps.length > 0) return "continues";
  return endedByItself(run) ? "differs" : "identical";
}

function classifyEnd(run: RecordedRun, outcome: RunOutcome, facts: Facts, redacted: boolean): ComparedAs {
  if (endedByItself(run)) {
    return sameOutcome(run, outcome, redacted) ? (disorder(facts) ?? "identical") : "differs";
  }
  // A run that was between two steps may have been about to return; one that waited was not.
  const isNew = run.status === "waiting" || facts.unusedSteps.length > 0;
  if (outcome.kind === "error" || isNew) return "ends";
  return disorder(facts) ?? "continues";
}

function disorder({ unusedSteps, movedSteps }: Facts): ComparedAs | null {
  if (unusedSteps.length > 0) return "orphaned";
  return movedSteps.length > 0 ? "reordered" : null;
}

/** By returning or throwing, not because somebody or the engine ended it. */
function endedByItself({ status, error }: RecordedRun): boolean {
  return isTerminal(status) && status !== "terminated" && !endedByEngine.has(error?.code ?? "");
}

const endedByEngine: ReadonlySet<string> = new Set([
  "CRASH_LOOP",
  "HISTORY_UNREADABLE",
  "INTERRUPTED_BY_RESTART",
  "NONDETERMINISM",
  "WORKFLOW_STALLED",
]);

/** The engine cannot tell which record is meant. */
function isMismatch(outcome: RunOutcome | null): boolean {
  const code = outcome?.kind === "error" ? outcome.error.code : undefined;
  return code === "STEP_TYPE_MISMATCH" || code === "NONDETERMINISM";
}

function newSteps({ begun }: RecordedRun, asked: readonly AskedStep[]): readonly string[] {
  const inFlight = new Set(begun.map(({ key }) => key));
  return asked
    .filter(({ record, stepKey }) => !record && !inFlight.has(stepKey))
    .map(({ stepKey }) => stepKey);
}

function unusedSteps(run: RecordedRun, asked: ReadonlySet<string>): readonly string[] {
  const recorded = new Set(run.steps.map(({ key }) => key));
  const topLevel = run.steps.filter(({ parentKey }) => parentKey === null).map(({ key }) => key);
  // What began inside another step belongs to it; a body that is in flight has no record of its own yet.
  const inside = run.steps.filter((step) => step.parentKey !== null && !outermostOf(step, run).isRecorded);
  const outer = inside.map((step) => outermostOf(step, run).key);
  const begun = run.begun.map(({ key }) => key).filter((key) => !recorded.has(key));
  const keys = [...new Set([...topLevel, ...begun, ...outer])];
  return keys.filter((key) => !isAskedFor(key, asked));
}

/** Its own key, or that of a step around it: a body may be in flight inside of another. */
function isAskedFor(key: string, asked: ReadonlySet<string>): boolean {
  if (asked.has(key)) return true;
  for (const outer of asked) if (key.startsWith(`${outer}/`) || key.startsWith(`${outer}@`)) return true;
  return false;
}

function isInsideOpenBody(step: StepRecord, run: RecordedRun, asked: ReadonlySet<string>): boolean {
  if (step.parentKey === null) return false;
  const { key, isSettled } = outermostOf(step, run);
  return !isSettled && isAskedFor(key, asked);
}

/** The outermost step around a nested one of which something is known. */
function outermostOf(
  step: StepRecord,
  { steps }: RecordedRun,
): { readonly key: string; readonly isRecorded: boolean; readonly isSettled: boolean } {
  let current = step;
  while (current.parentKey !== null) {
    const { parentKey } = current;
    const parent = steps.find(({ key }) => key === parentKey);
    if (!parent) return { key: parentKey, isRecorded: false, isSettled: false };
    current = parent;
  }
  return { key: current.key, isRecorded: true, isSettled: current.status !== "waiting" };
}

function movedSteps(asked: readonly AskedStep[]): readonly MovedStep[] {
  return asked.flatMap(({ stepKey, cameAfter }) =>
    cameAfter === null ? [] : [{ stepKey, after: cameAfter }],
  );
}

/** A wait that is over keeps what it received, whatever the code would wait for now. */
function mismatchOf(asked: AskedStep): Mismatch | null {
  const { stepKey, record } = asked;
  if (!record) return null;
  if (record.type !== asked.type) return { stepKey, recorded: record.type, asked: asked.type, isError: true };
  const isOther = record.eventType !== asked.eventType || record.topic !== asked.topic;
  if (record.status !== "waiting" || !isOther) return null;
  return { stepKey, recorded: waitInWords(record), asked: waitInWords(asked), isError: false };
}

function waitInWords({ eventType, topic }: Pick<AskedStep, "eventType" | "topic">): string {
  return topic === null ? `waitForEvent of type "${eventType}"` : `waitForEvent on topic "${topic}"`;
}
