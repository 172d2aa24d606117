import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { TurnScope } from "../engine/turn-host.ts";
import type { Next } from "../model/boundary.ts";
import type { InstanceRef } from "../model/instance.ts";
import type { CreateRequest } from "../model/request.ts";
import type { AsyncScope, Runtime } from "../model/runtime.ts";
import type { Store } from "../store/store.ts";
import type { CommitGroup } from "./commit-group.ts";
import type { NudgeWatch } from "./nudge-watch.ts";
import type { Observers } from "./observers.ts";
import type { PollSettings } from "./poll-options.ts";

export interface RunnerOptions extends PollSettings {
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly maxResidents: number;
  /** What turns in progress may hold of stored values; suspended ones half as much. */
  readonly maxMemoryBytes: number;
  /** What becomes of runs whose process died: go on (default), or end with an error. */
  readonly ifInterrupted: "retry" | "fail";
}

/** What an app gives its runner. */
export interface RunnerSetup {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly group: CommitGroup;
  readonly scope: AsyncScope<TurnScope>;
  readonly definitions: ReadonlyMap<string, WorkflowDefinition>;
  /** A workflow of the engine's own: nobody is told of it. */
  readonly ownWorkflow?: string;
  readonly options: RunnerOptions;
  readonly nudges: NudgeWatch;
  /** Keeps the clock right; see StoreClock. */
  readonly freshenClock: () => Promise<void> | null;
  /** What to create with the end of a run, so that the host is told of it. */
  readonly announce: (
    ref: InstanceRef & { readonly runNumber: number },
    next: Next,
  ) => CreateRequest | undefined;
  /** A run came to its end under this runner. */
  readonly onEnded: (ref: InstanceRef & { readonly runNumber: number }, next: Next) => void;
  /** Who is told of what goes on. */
  readonly observers: Observers;
  /** Something went wrong that is nobody's result: the host may want to know. */
  readonly onProblem: (problem: unknown) => void;
}
