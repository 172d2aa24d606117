/** What a workload is, and what it may use. */
import type { Ground, Place } from "./grounds/ground.ts";
import type { Wire } from "./wire.ts";

export interface Workload {
  readonly name: string;
  /** What happens, in one sentence. */
  readonly about: string;
  /** One round: the raw store first, then the engine. */
  measure(bench: Bench): Promise<Figures>;
  /** All rounds, where they share what takes long to prepare; used instead of `measure`. */
  measureAll?(bench: Bench, rounds: number): Promise<readonly Figures[]>;
  /** Which figures are shown beside each other. */
  lines(sizes: Sizes, ground: Ground): readonly LineSpec[];
  /** How long a round may take, where the usual time is not enough. */
  readonly minutesMax?: number;
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
  readonly ground: Ground;
  /** What goes to the server from this process. */
  readonly wire: Wire;
  /** Data of its own that nothing has used yet; removed after the round. */
  freshPlace(): Place;
  /** Says what is going on. */
  note(what: string): void;
  /** Says how far it has come; for what takes long. */
  progress(done: number, of: number): void;
  /** Differences between the rows the engine left of its first run and those written by hand; there should be none. */
  compareRows(engine: Place, raw: Place): Promise<void>;
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
  /** How long each raw limit is tried. */
  readonly limitMs: number;
  /** Workflows whose cost is counted one at a time. */
  readonly costRuns: number;
  readonly nudges: number;
  /** Numbers of processes that share the work. */
  readonly runners: readonly number[];
  /** Numbers of instances that sleep or wait meanwhile, growing. */
  readonly parked: readonly number[];
  readonly parkedRuns: number;
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
  limitMs: 1000,
  costRuns: 100,
  nudges: 100,
  runners: [1, 2, 4],
  parked: [100_000],
  parkedRuns: 200,
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
  limitMs: 100,
  costRuns: 10,
  nudges: 5,
  runners: [1, 2],
  parked: [1000],
  parkedRuns: 10,
};
