import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { EventRecord } from "../model/event.ts";
import type { Observer } from "../model/observer.ts";
import type { CommitRequest } from "../model/request.ts";
import type { AsyncScope, Runtime } from "../model/runtime.ts";
import type { WaitingStep } from "../model/step.ts";
import type { Body } from "./body.ts";
import type { Call } from "./call.ts";
import type { Turn } from "./turn.ts";

/** What a turn wants to be durable. */
export type TurnCommit = Pick<CommitRequest, "boundary" | "alongside" | "mutations">;

/** Every effect a turn can have. */
export interface TurnHost {
  readonly runtime: Runtime;
  readonly scope: AsyncScope<TurnScope>;
  /** Makes a boundary durable; the turn hears what came of it by `committed` or `commitFailed`, later. */
  commit(turn: Turn, commit: TurnCommit): void;
  readEvents(turn: Turn, after: number): Promise<readonly EventRecord[]>;
  /** What is recorded now of the steps that wait. */
  readWaits(turn: Turn): Promise<readonly WaitingStep[]>;
  /** The runner's own clock still counts the lease as held. */
  holdsLease(turn: Turn): boolean;
  /** Code of this turn has just asked for something or come to an end, in this step or (null) outside of any. */
  spoke?(turn: Turn, stepName: string | null): void;
  /** Something happened in a turn that had given its lease back: the run should be due now. */
  wake(turn: Turn): void;
  /** Whether another body of this turn may start in this tick. */
  takeStep(turn: Turn): boolean;
  /** Who is told of what happens. */
  readonly observer?: Observer;
  /** The definition of a workflow another instance is created of, for its limits. */
  definitionOf(workflowName: string): WorkflowDefinition | undefined;
  /** Given where code is only held against what is recorded: nothing goes beyond it, what is open stays open. */
  readonly rehearsal?: {
    /** The workflow function asked for a step. */
    asked(call: Call): void;
  };
}

/** Where in a run a piece of author code is executing: in the workflow function, or in the body of a step. */
export interface TurnScope {
  readonly turn: Turn;
  readonly body: Body | null;
}
