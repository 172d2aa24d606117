import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { TypesOf } from "../authoring/workflow-types.ts";
import type { AppHandle } from "../handles/app-handle.ts";
import type { WorkflowHandle } from "../handles/workflow-handle.ts";
import type { Observer } from "../model/observer.ts";
import type { StopReport } from "../runner/runner.ts";
import type { TickOptions } from "../runner/ticks.ts";
import type { MigrateOptions, MigrationReport, Store } from "../store/store.ts";
import type { CheckReport } from "../verify/replay/check-report.ts";
import type { VerifyReport } from "../verify/verify-report.ts";
import type { StopOptions } from "./app-options.ts";
import type { AppReading } from "./app-reading.ts";
import type { CheckOptions } from "./check-code.ts";
import type { VerifyOptions } from "./verify-app.ts";

export type Handles<Workflows extends Record<string, WorkflowDefinition>> = {
  readonly [Key in keyof Workflows]: HandleOf<Workflows[Key]>;
};

type HandleOf<Workflow extends WorkflowDefinition> = WorkflowHandle<
  TypesOf<Workflow>["params"],
  TypesOf<Workflow>["output"],
  TypesOf<Workflow>["events"]
>;

export interface App<
  Workflows extends Record<string, WorkflowDefinition> = Record<string, WorkflowDefinition>,
> extends AppHandle<Handles<Workflows>>,
    AppReading {
  readonly store: Store;
  /** Runs instances in this process until `stop`. */
  start(): Promise<void>;
  /** Graceful: no new work, bodies in flight may finish, everything is given back. Also closes the store. */
  stop(options?: StopOptions): Promise<StopReport>;
  /** One sweep, for hosts without a loop. */
  tick(options?: TickOptions): Promise<{ readonly processed: number }>;
  /**
   * Brings the store's schema up to date; `start` and first use do it too. With `{ plan: true }` it changes nothing: the
   * report's `statements` are what it would run.
   */
  migrate(options?: MigrateOptions): Promise<MigrationReport>;
  /**
   * Removes instances whose retention has passed, at most `limit` of them; says how many. Also forgets publications that
   * are older than a week. Call it now and then; nothing is removed by itself.
   */
  prune(options?: { readonly limit?: number }): Promise<number>;
  /**
   * Replays the recorded histories of unfinished instances against code and says what becomes of each: against the app's
   * own workflows, or against others (`workflows`), for instance the next build. Nothing is written and no body runs;
   * code outside of steps does run.
   */
  check(options?: CheckOptions): Promise<CheckReport>;
  verify(options?: VerifyOptions): Promise<VerifyReport>;
  /**
   * Lets somebody look on from now on, as the option `observers` does from the beginning: for tools that are given an app.
   * Returns the way to stop.
   */
  observe(observer: Observer): () => void;
}
