/** What `simulate` is told. */

import type { LimitOptions } from "../../../authoring/check-limits.ts";
import type { WorkflowDefinition } from "../../../authoring/define-workflow.ts";
import type { Duration } from "../../../authoring/duration.ts";
import type { App } from "../../../client/app.ts";
import type { Store } from "../../../store/store.ts";
import type { Faults } from "./faults.ts";
import type { Invariants } from "./invariants.ts";
import type { SimulationTape } from "./replay-code.ts";

export type SimulatedWorkflows = Record<string, WorkflowDefinition>;

export interface SimulatedClock {
  now(): Date;
  /** Waits in virtual time, which costs none. In a process that is killed meanwhile it never returns. */
  sleep(duration: Duration): Promise<void>;
}

/** Chance that is part of the seed: it is drawn again in a replay, and simplified with everything else. */
export interface SimulatedRandom {
  chance(probability: number): boolean;
  /** A whole number from 0 to `count` - 1. */
  below(count: number): number;
  pick<Item>(items: readonly Item[]): Item;
}

/** One process of a simulation, from its start to its death. */
export interface SimulatedProcess {
  readonly clock: SimulatedClock;
  readonly random: SimulatedRandom;
}

export interface ScenarioContext<Workflows extends SimulatedWorkflows, State> {
  /** Handles as the app has them. */
  readonly workflows: App<Workflows>["workflows"];
  /** The rest of the app: publish, counts, ... */
  readonly app: App<Workflows>;
  readonly clock: SimulatedClock;
  readonly random: SimulatedRandom;
  /** The outside world of this seed. */
  readonly state: State;
  readonly seed: number | string;
}

export interface SimulateOptions<Workflows extends SimulatedWorkflows, State> {
  /** How many worlds to try (default 100), or which. */
  readonly seeds?: number | { readonly from: number; readonly count: number };
  /** The world outside of the workflows, fresh for every seed: what bodies change and invariants look at. */
  readonly state?: () => State;
  /** What callers do. Default: creates one instance of each workflow. */
  readonly scenario?: (context: ScenarioContext<Workflows, State>) => unknown;
  /** Must hold at the end of every seed, when everything has come to its end. */
  readonly invariants?: Invariants<State>;
  /** Must hold after every write to the store, and at the end. */
  readonly always?: Invariants<State>;
  /** What may go wrong, by name; `false` for nothing at all. */
  readonly faults?: Partial<Faults> | false;
  /** Processes that run instances, at most (default 3). */
  readonly runners?: number;
  /** A store without data for every seed; memory unless given. */
  readonly store?: () => Store | Promise<Store>;
  /** As for `createWorkflows`. */
  readonly limits?: LimitOptions;
  /** With `false` a world is at rest as soon as every instance waits; otherwise each must come to its end. */
  readonly mustEnd?: boolean;
  /** Real time that is given to real work of bodies (default 1 second). */
  readonly patience?: Duration;
  /** Real time after which no further seed is begun; none unless given. */
  readonly timeBudget?: Duration;
  /** Real time for making a failure smaller (default 5 seconds), 0 for leaving it as it is. */
  readonly shrinkTime?: Duration;
  /** Worlds that are tried at most while making it smaller (default 2000). */
  readonly shrinkTries?: number;
  /** Only this world: a seed, the code that a failure prints, or the tape it has. */
  readonly replay?: number | string | SimulationTape;
  /** Invariants that may break before it stops looking for more (default 1). */
  readonly maxFailures?: number;
  /** With `false` a failure is only reported; otherwise it is thrown, so that a test fails. */
  readonly throws?: boolean;
  readonly onProgress?: (progress: SimulationProgress) => void;
}

export interface SimulationProgress {
  readonly phase: "exploring" | "shrinking";
  /** Worlds so far, in this phase. */
  readonly done: number;
  /** Worlds at most, in this phase. */
  readonly of: number;
  readonly failures: number;
}

/** The same, checked and complete. */
export interface Settings {
  readonly workflowsOf: (state: unknown, process: SimulatedProcess) => SimulatedWorkflows;
  readonly seeds: readonly number[];
  readonly replay: SimulationTape | null;
  readonly state: () => unknown;
  readonly scenario: ((context: ScenarioContext<SimulatedWorkflows, unknown>) => unknown) | null;
  readonly invariants: Invariants<unknown>;
  readonly always: Invariants<unknown>;
  readonly faults: Faults;
  readonly runners: number;
  readonly store: (() => Store | Promise<Store>) | null;
  readonly limits: LimitOptions;
  readonly mustEnd: boolean;
  readonly patienceMs: number;
  readonly timeBudgetMs: number;
  readonly shrinkMs: number;
  readonly shrinkTries: number;
  readonly maxFailures: number;
  readonly throws: boolean;
  readonly onProgress: (progress: SimulationProgress) => void;
}
