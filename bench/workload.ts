/** What a workload is, and what it may use. */

export interface Workload {
  readonly name: string;
  /** What happens, in one sentence. */
  readonly about: string;
  /** One round: the raw store first, then the engine. */
  measure(bench: Bench): Promise<Figures>;
  /** Which figures are shown beside each other. */
  lines(sizes: Sizes): readonly LineSpec[];
}

/** What one round measured, by name. */
export type Figures = Readonly<Record<string, number>>;

export interface LineSpec {
  readonly what: string;
  readonly unit: "per s" | "ms" | "us" | "";
  /** Name of the engine's figure; left out on lines that only show what the store can do. */
  readonly engine?: string;
  /** Name of the raw store's figure for the same work. */
  readonly raw?: string;
  /** False where the two only stand side by side. */
  readonly ratio?: boolean;
  readonly aim?: Aim;
}

export type Aim = (
  | { readonly atLeast: number }
  | { readonly atMost: number }
  | { readonly exactly: number }
) & {
  readonly of: "ratio" | "engine";
};

export interface Bench {
  readonly sizes: Sizes;
  /** A database file that nothing has used yet. */
  freshFile(): string;
  /** Says what is going on. */
  note(what: string): void;
  /** Differences between the rows the engine left and the rows written by hand; there should be none. */
  compareRows(engineFile: string, rawFile: string, run: number): void;
}

export interface Sizes {
  readonly workflows: number;
  readonly createsInFlight: number;
  readonly latencyRuns: number;
  /** Workflows, events or steps that go ahead of a measurement, so that code is compiled and caches are filled. */
  readonly warmUps: number;
  readonly timers: number;
  readonly timerMs: number;
  readonly events: number;
  readonly longSteps: number;
  readonly histories: readonly number[];
  readonly replayedHistories: readonly number[];
  readonly resumes: number;
}

export const fullSizes: Sizes = {
  workflows: 2000,
  createsInFlight: 512,
  latencyRuns: 200,
  warmUps: 50,
  timers: 1000,
  timerMs: 1000,
  events: 200,
  longSteps: 1000,
  histories: [100, 1000, 5000],
  replayedHistories: [100, 1000],
  resumes: 100,
};

export const quickSizes: Sizes = {
  workflows: 300,
  createsInFlight: 512,
  latencyRuns: 10,
  warmUps: 5,
  timers: 100,
  timerMs: 200,
  events: 10,
  longSteps: 40,
  histories: [20, 100, 200],
  replayedHistories: [20, 100],
  resumes: 5,
};
