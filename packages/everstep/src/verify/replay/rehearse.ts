/**
 * Holds code against what is recorded: the engine's own turn, from the top, with a host that has no store. Recorded
 * steps answer in their recorded order; everything else stays open, so no body runs and no time passes. Author code
 * outside of steps does run.
 */
import type { WorkflowDefinition } from "../../authoring/define-workflow.ts";
import type { WorkflowEvent, WorkflowStep } from "../../authoring/workflow-step.ts";
import type { Ending, RunOutcome } from "../../engine/ending.ts";
import { Turn } from "../../engine/turn.ts";
import { turnOver } from "../../engine/turn-errors.ts";
import type { TurnScope } from "../../engine/turn-host.ts";
import type { Claim } from "../../model/lease.ts";
import type { AsyncScope, Runtime } from "../../model/runtime.ts";
import { countedStep } from "./counted-step.ts";
import { GiveUp } from "./give-up.ts";
import type { RecordedRun } from "./recorded-run.ts";
import { type AskedStep, RehearsalHost } from "./rehearsal-host.ts";

/** Where the code came to rest. */
export type Rest =
  /** Every branch waits for something that is not recorded as settled. */
  | { readonly kind: "open" }
  /** The function returned or threw. */
  | { readonly kind: "ended"; readonly outcome: RunOutcome }
  /** It did not. */
  | { readonly kind: "stuck" }
  | { readonly kind: "unreadable"; readonly problem: unknown };

export interface Rehearsal {
  /** In the order the code asked. */
  readonly asked: readonly AskedStep[];
  readonly rest: Rest;
}

export interface RehearsalParts {
  readonly runtime: Runtime;
  readonly scope: AsyncScope<TurnScope>;
  readonly patienceMs: number;
}

/** How long code that rests, but has not asked for all that is recorded, may be busy with something that is no step. */
const lingerMs = 250;
const callsMin = 10_000;
const callsPerRecord = 10;

export async function rehearse(
  run: RecordedRun,
  definition: WorkflowDefinition,
  parts: RehearsalParts,
): Promise<Rehearsal> {
  const host = new RehearsalHost(parts.runtime, parts.scope);
  const giveUp = new GiveUp(parts.runtime, parts.patienceMs, () => host.signsOfLife);
  let tooMany!: (ending: "too many calls") => void;
  const restless = new Promise<"too many calls">((resolve) => {
    tooMany = resolve;
  });
  const claim = claimOf(run);
  const drive = (ending: Promise<Ending>) => Promise.race([ending, giveUp.timeIsUp, restless]);
  let turn: Turn | null = null;
  try {
    const code = rehearsed(definition, run, parts.patienceMs, () => tooMany("too many calls"));
    turn = new Turn(claim, { steps: run.steps, events: [] }, code, host);
    let ending = await drive(turn.start());
    while (isSuspended(ending) && (await goesOn(host, run, parts.runtime))) {
      host.sleep();
      ending = await drive(turn.resume(claim, []));
    }
    return { asked: host.asked, rest: restOf(ending) };
  } catch (problem) {
    // Only what is stored can make a turn fail to begin.
    return { asked: host.asked, rest: { kind: "unreadable", problem } };
  } finally {
    giveUp.cancel();
    turn?.abandon(turnOver());
  }
}

/** The same code without limits of time, which the rehearsal is not about, and without endless loops. */
function rehearsed(
  definition: WorkflowDefinition,
  run: RecordedRun,
  patienceMs: number,
  onTooMany: () => void,
): WorkflowDefinition {
  const callsMax = callsMin + callsPerRecord * run.steps.length;
  return {
    ...definition,
    maxRunMs: null,
    maxSuspendMs: null,
    // Whoever gives up here is GiveUp.
    limits: { ...definition.limits, stallTimeoutMs: 2 * patienceMs },
    run: (event: WorkflowEvent, step: WorkflowStep) =>
      definition.run(event, countedStep(step, callsMax, onTooMany)),
  };
}

function claimOf(run: RecordedRun): Claim {
  const { workflowName, instanceId, runNumber, params, createdAt } = run;
  return {
    workflowName,
    instanceId,
    runNumber,
    params,
    createdAt,
    lease: { runId: 0, token: 0, owner: "", expiresAt: Number.POSITIVE_INFINITY },
    startedAt: createdAt,
    deadlineAt: null,
    waitingSince: null,
    fresh: run.steps.length === 0,
    eventSeq: 0,
    begun: [],
    crashCount: 0,
    left: { token: 0, commit: 0, ranOut: false },
  };
}

type RawEnding = Ending | "time is up" | "too many calls";

function isSuspended(ending: RawEnding): boolean {
  return typeof ending === "object" && ending.kind === "suspended";
}

/** A branch may wait while another is busy with something quick that is no step: a hash, an import. */
async function goesOn(host: RehearsalHost, run: RecordedRun, runtime: Runtime): Promise<boolean> {
  const asked = new Set(host.asked.map(({ stepKey }) => stepKey));
  if (run.steps.every(({ key, parentKey }) => parentKey !== null || asked.has(key))) return false;
  const linger = new GiveUp(runtime, lingerMs, () => 0);
  try {
    return (await Promise.race([host.awake, linger.timeIsUp])) === "awake";
  } finally {
    linger.cancel();
  }
}

function restOf(ending: RawEnding): Rest {
  if (typeof ending === "string") return { kind: "stuck" };
  switch (ending.kind) {
    case "suspended":
      return { kind: "open" };
    case "ended":
      return isOutcome(ending.next) ? endedWith(ending.next) : { kind: "stuck" };
    default:
      return { kind: "stuck" };
  }
}

function isOutcome(next: { readonly kind: string }): next is RunOutcome {
  return next.kind === "complete" || next.kind === "error";
}

/** What the engine itself has to say of records is not the code's end. */
function endedWith(outcome: RunOutcome): Rest {
  const code = outcome.kind === "error" ? outcome.error.code : undefined;
  if (code === "WORKFLOW_STALLED") return { kind: "stuck" };
  if (outcome.kind === "error" && code === "HISTORY_UNREADABLE") {
    return { kind: "unreadable", problem: new Error(outcome.error.message) };
  }
  return { kind: "ended", outcome };
}
