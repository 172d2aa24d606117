import type { Boundary } from "../model/boundary.ts";
import type { CommitOutcome } from "../model/request.ts";
import type { Tally } from "../store/store.ts";

/** A store that takes no beats must not fill the memory: beyond this the oldest minutes are forgotten. */
const talliesMax = 2000;
const minuteMs = 60_000;

type Open = { -readonly [Field in keyof Tally]: Tally[Field] };

/**
 * What a runner got done since it last told, by minute and workflow. Counting is part of every commit: it makes nothing
 * but the first entry of a minute.
 */
export class Tallies {
  /** Of the minute now, by workflow. */
  #open = new Map<string, Open>();
  #minute = 0;
  /** Of minutes before, oldest first. */
  #over: Tally[] = [];

  /** A commit was applied at this time, as far as its outcome says. */
  count(workflowName: string, boundary: Boundary, outcome: CommitOutcome, now: number): void {
    if (outcome.kind !== "committed" && outcome.kind !== "paused") return;
    const tally = this.#tallyOf(workflowName, now);
    for (const step of boundary.steps) {
      if (step.status === "completed") tally.steps += 1;
      else if (step.status === "errored") {
        tally.steps += 1;
        if (step.attempts > 0) tally.failedAttempts += 1;
      } else if (step.waitsFor === "retry") tally.failedAttempts += 1;
    }
    if (!outcome.timeoutsRefused) tally.steps += boundary.timeouts.length;
    // A pause takes the steps and leaves out the end.
    if (outcome.kind === "paused") return;
    const { kind } = boundary.next;
    if (kind === "complete") tally.complete += 1;
    else if (kind === "error") tally.errored += 1;
    else if (kind === "terminate") tally.terminated += 1;
  }

  /** Everything there is; from now on it is counted anew. */
  take(): readonly Tally[] {
    this.#closeMinute();
    const taken = this.#over;
    this.#over = [];
    return taken;
  }

  /** What is counted and not told yet. */
  get untold(): readonly Tally[] {
    return [...this.#over, ...this.#open.values()];
  }

  /** They could not be told; they come with the next. */
  putBack(tallies: readonly Tally[]): void {
    this.#over = merged([...tallies, ...this.#over]).slice(-talliesMax);
  }

  #tallyOf(workflowName: string, now: number): Open {
    if (now >= this.#minute + minuteMs || now < this.#minute) {
      this.#closeMinute();
      this.#minute = Math.floor(now / minuteMs) * minuteMs;
    }
    const known = this.#open.get(workflowName);
    if (known !== undefined) return known;
    const begun = {
      ...{ minute: this.#minute, workflowName },
      ...{ complete: 0, errored: 0, terminated: 0, steps: 0, failedAttempts: 0 },
    };
    this.#open.set(workflowName, begun);
    return begun;
  }

  #closeMinute(): void {
    if (this.#open.size === 0) return;
    const counted = [...this.#open.values()].filter(isSomething);
    this.#open = new Map();
    this.putBack(counted);
  }
}

function isSomething({ complete, errored, terminated, steps, failedAttempts }: Tally): boolean {
  return complete + errored + terminated + steps + failedAttempts > 0;
}

/** One for each minute and workflow. */
function merged(tallies: readonly Tally[]): Tally[] {
  const byKey = new Map<string, Open>();
  for (const tally of tallies) {
    const key = `${tally.minute} ${tally.workflowName}`;
    const known = byKey.get(key);
    if (known === undefined) {
      byKey.set(key, { ...tally });
      continue;
    }
    known.complete += tally.complete;
    known.errored += tally.errored;
    known.terminated += tally.terminated;
    known.steps += tally.steps;
    known.failedAttempts += tally.failedAttempts;
  }
  return [...byKey.values()].sort((one, other) => one.minute - other.minute);
}
