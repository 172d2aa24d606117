import type { Beat, MinuteTally, RunnerRecord, Tally, TallyQuery } from "../../store/index.ts";
import { tallySpan } from "../../store/tally-span.ts";
import { detached } from "./detached.ts";

/** Who runs, and how much gets done. */
export class Beats {
  readonly #runners = new Map<string, RunnerRecord>();
  /** By minute, then by workflow. */
  readonly #tallies = new Map<number, Map<string, Tally>>();

  keep({ runner, tallies, forgetBefore }: Beat): void {
    this.#forget(forgetBefore);
    this.#runners.set(runner.owner, detached(runner));
    for (const tally of tallies) this.#add(tally);
  }

  runners(limit: number): readonly RunnerRecord[] {
    return [...this.#runners.values()].sort(seenLastFirst).slice(0, limit).map(detached);
  }

  tallies(query: TallyQuery): readonly MinuteTally[] {
    const { from, to } = tallySpan(query);
    const { workflowName } = query;
    return [...this.#tallies]
      .filter(([minute]) => minute >= from && minute < to)
      .sort(([one], [other]) => one - other)
      .flatMap(([minute, byWorkflow]) => {
        const asked = [...byWorkflow.values()].filter(
          (tally) => workflowName === undefined || tally.workflowName === workflowName,
        );
        return asked.length === 0 ? [] : [asked.reduce<MinuteTally>(sum, { minute, ...nothing })];
      });
  }

  #add(tally: Tally): void {
    const byWorkflow = this.#tallies.get(tally.minute) ?? new Map<string, Tally>();
    this.#tallies.set(tally.minute, byWorkflow);
    const { workflowName } = tally;
    const before = byWorkflow.get(workflowName) ?? { minute: tally.minute, ...nothing };
    byWorkflow.set(workflowName, { ...sum(before, tally), workflowName });
  }

  #forget(before: number): void {
    for (const [owner, { seenAt }] of this.#runners) if (seenAt < before) this.#runners.delete(owner);
    for (const minute of this.#tallies.keys()) if (minute < before) this.#tallies.delete(minute);
  }
}

const nothing = { complete: 0, errored: 0, terminated: 0, steps: 0, failedAttempts: 0 };

function sum(one: MinuteTally, other: MinuteTally): MinuteTally {
  return {
    minute: one.minute,
    complete: one.complete + other.complete,
    errored: one.errored + other.errored,
    terminated: one.terminated + other.terminated,
    steps: one.steps + other.steps,
    failedAttempts: one.failedAttempts + other.failedAttempts,
  };
}

function seenLastFirst(one: RunnerRecord, other: RunnerRecord): number {
  return other.seenAt - one.seenAt || (one.owner < other.owner ? -1 : 1);
}
