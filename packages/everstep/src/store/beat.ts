/** Who runs on a store and how much gets done there: for people who look, so it is neither fenced nor exact. */

/** A runner tells that it lives, and what it has done since it last told. */
export interface Beat {
  readonly runner: RunnerRecord;
  /** Added to what is there for the same minute and workflow; each of these only once in a beat. */
  readonly tallies: readonly Tally[];
  /** Runners last seen before this time and tallies of minutes before it are forgotten, some with every beat. */
  readonly forgetBefore: number;
}

export interface RunnerRecord {
  readonly owner: string;
  /** Host and process, as people know them; null where there is none. */
  readonly host: string | null;
  readonly pid: number | null;
  readonly startedAt: number;
  readonly seenAt: number;
  /** null while it runs. */
  readonly stoppedAt: number | null;
  readonly concurrency: number;
  /** Turns in progress. */
  readonly turns: number;
  readonly workflows: readonly string[];
}

export interface TallyCounts {
  readonly complete: number;
  readonly errored: number;
  readonly terminated: number;
  /** Steps recorded as completed or errored. */
  readonly steps: number;
  readonly failedAttempts: number;
}

/** What runners did in one minute. */
export interface MinuteTally extends TallyCounts {
  /** When the minute began: a multiple of 60,000. */
  readonly minute: number;
}

/** The same of one workflow. */
export interface Tally extends MinuteTally {
  readonly workflowName: string;
}

export interface TallyQuery {
  /** Minutes that began at this time or later, and before `to`; of more than seven days the last. */
  readonly from: number;
  readonly to: number;
  /** Of one workflow; of all together when left out. */
  readonly workflowName?: string;
}
