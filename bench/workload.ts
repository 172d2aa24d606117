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
  /** What stands beside the engine, where it is not the raw store. */
  readonly beside?: string;
  /** How long a round may take, where the usual time is not enough. */
  readonly minutesMax?: number;
  /** How many rounds are enough, where they take long and differ little. */
  readonly roundsMax?: number;
}

/** What one round measured, by name. */
export type Figures = Readonly<Record<string, number>>;

export interface LineSpec {
  readonly what: string;
  readonly unit: "per s" | "MB per s" | "ms" | "us" | "MB" | "";
  /** Name of the engine's figure; left out on lines that only show what the store can do. */
  readonly engine?: string;
  /** Name of the raw store's figure for the same work. */
  readonly raw?: string;
  /** False where the two only stand side by side. */
  readonly ratio?: boolean;
  /** What is wanted of it; every aim is also a line of the report's targets. */
  readonly aim?: Aim;
}

export type Aim = (
  | { readonly atLeast: number }
  | { readonly atMost: number }
  | { readonly below: number }
  | { readonly exactly: number }
  /** Watched, without a bound. */
  | { readonly watched: true }
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
  /** Numbers of sleeps that are over in the same second: few and many. */
  readonly storms: readonly [number, number];
  readonly events: number;
  readonly longSteps: number;
  /** Numbers of steps in a short and in a long workflow whose time per step is compared. */
  readonly linear: readonly [number, number];
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
  readonly payloads: readonly Payload[];
  /** How long a runner with nothing to do is watched. */
  readonly idleMs: number;
  readonly compared: ComparedSizes;
}

/** Params and step results of one size, in so many workflows. */
export interface Payload {
  readonly bytes: number;
  readonly workflows: number;
}

/** What every library that is compared gets to do. Whoever is slow does less of it: `capMs` for each measurement. */
export interface ComparedSizes {
  readonly workflows: number;
  readonly warmUps: number;
  readonly latencyRuns: number;
  readonly events: number;
  readonly timers: number;
  readonly timerMs: number;
  readonly capMs: number;
}

export const fullSizes: Sizes = {
  workflows: 2000,
  createsInFlight: 512,
  latencyRuns: 200,
  warmUps: 50,
  timers: 1000,
  timerMs: 1000,
  storms: [1000, 10_000],
  events: 200,
  longSteps: 1000,
  linear: [1000, 10_000],
  histories: [100, 1000, 5000],
  replayedHistories: [100, 1000],
  resumes: 100,
  limitMs: 500,
  costRuns: 100,
  nudges: 100,
  runners: [1, 2, 4],
  parked: [100_000],
  parkedRuns: 200,
  payloads: [
    { bytes: 1024, workflows: 1000 },
    { bytes: 64 * 1024, workflows: 200 },
    { bytes: 1024 * 1024, workflows: 16 },
  ],
  idleMs: 20_000,
  compared: {
    workflows: 2000,
    warmUps: 4000,
    latencyRuns: 200,
    events: 200,
    timers: 1000,
    timerMs: 1000,
    capMs: 4000,
  },
};

export const quickSizes: Sizes = {
  workflows: 300,
  createsInFlight: 512,
  latencyRuns: 10,
  warmUps: 5,
  timers: 100,
  timerMs: 200,
  storms: [100, 300],
  events: 10,
  longSteps: 40,
  linear: [40, 200],
  histories: [20, 100, 200],
  replayedHistories: [20, 100],
  resumes: 5,
  limitMs: 100,
  costRuns: 10,
  nudges: 3,
  runners: [1, 2],
  parked: [1000],
  parkedRuns: 10,
  payloads: [
    { bytes: 1024, workflows: 20 },
    { bytes: 1024 * 1024, workflows: 2 },
  ],
  idleMs: 2000,
  compared: {
    workflows: 100,
    warmUps: 100,
    latencyRuns: 5,
    events: 5,
    timers: 50,
    timerMs: 200,
    capMs: 3000,
  },
};
