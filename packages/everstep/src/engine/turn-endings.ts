import { toStoredError } from "../authoring/stored-error.ts";
import type { Next } from "../model/boundary.ts";
import type { TerminationReason } from "../model/instance.ts";
import type { CommitOutcome } from "../model/request.ts";
import { endOfRun, type RunOutcome, suspendedTooLong, type TimeLimit, timeLimitOf } from "./ending.ts";
import {
  asksWithoutEnd,
  goesInCircles,
  runFailed,
  turnOver,
  unfinishedSteps,
  workflowStalled,
} from "./turn-errors.ts";
import type { TurnParts } from "./turn-parts.ts";

type Parts = Pick<TurnParts, "run" | "records" | "life" | "schedule" | "commits" | "parked" | "steps">;

/** The ways a turn ends: the run completed, failed or ran out of time, every branch waits, or it yields to another turn. */
export class TurnEndings {
  readonly #parts: Parts;
  readonly #timeLimit: TimeLimit | null;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#timeLimit = timeLimitOf(parts.run.definition, parts.run.claim);
  }

  /** When the turn has to be looked at again, if nothing happens before. */
  get nextLook(): number {
    return Math.min(this.#parts.parked.earliestWake, this.#timeLimit?.at ?? Number.POSITIVE_INFINITY);
  }

  /** Nothing is in flight and nothing is to be handed over. */
  get isQuiet(): boolean {
    return this.#parts.steps.isQuiet && this.#parts.records.handOver.isEmpty;
  }

  // ---------------------------------------------------------------------------------------------- what the run comes to

  /** The workflow function returned or threw. */
  runSettled(outcome: { readonly ok: boolean; readonly value?: unknown; readonly error?: unknown }): void {
    const { run, records, life } = this.#parts;
    if (life.state === "closed") return life.wakeLate();
    if (life.outcome !== null) return;
    const settled = endOfRun(outcome, run.definition, (error) => records.register.isExhausted(error));
    if (settled instanceof Promise) void settled.then((checked) => this.#endSoon(checked));
    else this.#endSoon(settled);
  }

  /** Author code does nothing but what is over at once: it would do so for ever, here and in every other process. */
  goesInCircles(): void {
    this.#endSoon(errorOutcome(goesInCircles(this.#parts.run.definition.name)));
  }

  /** Author code is not what was recorded: it hears nothing of that, so that it does not act on it. */
  diverges(problem: Error): void {
    this.#endSoon(errorOutcome(problem));
  }

  /** Author code asks for more and more and awaits nothing; gives what is thrown at it. */
  asksWithoutEnd(): Error {
    const { run, life } = this.#parts;
    const error = asksWithoutEnd(run.definition.name);
    if (life.state !== "closed") this.#endSoon(errorOutcome(error));
    return error;
  }

  #endSoon(outcome: RunOutcome): void {
    const { life, schedule } = this.#parts;
    if (life.outcome === null) life.endWith(outcome);
    life.wakeLate();
    schedule.pump();
  }

  /** What is stored of this run cannot be read: it ends with the reason, and neither process nor neighbours are harmed. */
  breakDown(problem: unknown): void {
    this.#endNow(errorOutcome(problem));
  }

  /** Author code has been idle for too long, with no step open. */
  stalled(): void {
    const { run, life, parked } = this.#parts;
    if (!life.isOpen || life.outcome !== null || !this.isQuiet || !parked.isEmpty) return;
    this.#endNow(errorOutcome(workflowStalled(run.definition.name, run.definition.limits.stallTimeoutMs)));
  }

  /** The run's time is up, or a retry is all that is left and would come too late. */
  endIfTimeIsUp(): boolean {
    const { run, commits, parked } = this.#parts;
    const limit = this.#timeLimit;
    if (limit === null || commits.underWay) return false;
    const hopeless = this.isQuiet && parked.allRetryAfter(limit.at);
    if (limit.at > run.now() && !hopeless) return false;
    this.#terminate(limit.reason);
    return true;
  }

  /** Suspended for longer than the workflow allows, and nothing came of this turn either. */
  endIfSuspendedTooLong(): boolean {
    const { run, records, commits } = this.#parts;
    const { waitingSince } = run.claim;
    const { maxSuspendMs } = run.definition;
    const progress = commits.hasProgressed || !records.draft.isEmpty;
    if (waitingSince === null || maxSuspendMs === null || progress) return false;
    if (waitingSince + maxSuspendMs > run.now()) return false;
    this.#terminate(suspendedTooLong(maxSuspendMs));
    return true;
  }

  #terminate(reason: TerminationReason): void {
    this.#endNow({ kind: "terminate", reason });
  }

  #endNow(outcome: RunOutcome): void {
    this.#parts.life.endWith(outcome);
    this.end();
  }

  // ---------------------------------------------------------------------------------------------- the last commit

  /** The function returned or threw: what finished joins the last commit, what is still running is void. */
  end(): void {
    const { run, records, life, commits, steps } = this.#parts;
    const { outcome } = life;
    if (commits.underWay || outcome === null) return;
    records.handOver.placeFinished();
    if (outcome.kind === "error") run.notice(runFailed(outcome.error));
    const { unfinished } = steps;
    if (unfinished.length > 0) records.note("warn", unfinishedSteps(unfinished));
    commits.commit(outcome);
  }

  /** Every branch waits. */
  suspend(): void {
    const { run, commits, parked } = this.#parts;
    const { earliestWake: wake, nextTask: task } = parked;
    const { maxSuspendMs } = run.definition;
    const patienceEnds = maxSuspendMs === null ? wake : run.now() + maxSuspendMs;
    const dueAt = Math.min(wake, this.#timeLimit?.at ?? wake, patienceEnds);
    commits.commit({ kind: "suspend", dueAt, task });
  }

  /** The next turn goes on from here. */
  yield(): void {
    this.#parts.commits.commit({ kind: "yield", dueAt: this.#parts.run.now() });
  }

  /** The last commit was applied. */
  ended(outcome: CommitOutcome, next: Next): void {
    const { run, records, life, schedule, commits, steps } = this.#parts;
    if (outcome.kind === "paused") return life.close(turnOver, { kind: "paused" });
    if (next.kind !== "suspend") return life.close(turnOver, { kind: "ended", next });
    commits.goesOn();
    schedule.busy();
    const dueNow = outcome.kind === "committed" && outcome.dueNow;
    life.suspend(dueNow ? run.now() : next.dueAt);
    // Author code that was not idle after all asked for more while the commit was under way.
    if (steps.hasAsked || records.handOver.owes || life.outcome !== null) life.wakeLate();
  }
}

function errorOutcome(problem: unknown): RunOutcome {
  return { kind: "error", error: toStoredError(problem), deadLetter: false };
}
