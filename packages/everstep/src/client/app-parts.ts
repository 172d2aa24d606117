import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { EverstepError } from "../model/error.ts";
import type { Limits } from "../model/limits.ts";
import type { Runtime } from "../model/runtime.ts";
import type { CommitGroup } from "../runner/commit-group.ts";
import type { NudgeWatch } from "../runner/nudge-watch.ts";
import type { Runner } from "../runner/runner.ts";
import type { Store } from "../store/store.ts";
import type { EndWatch } from "./end-watch.ts";
import type { Endings } from "./endings.ts";
import type { Instant } from "./instant.ts";
import type { Announcer } from "./lifecycle-hooks.ts";
import type { StoreReads } from "./patient-reads.ts";

/** Decides whether a result that is marked `sensitive` is shown to those who look. */
export type ShowSensitive = (step: {
  readonly workflowName: string;
  readonly instanceId: string;
  readonly stepKey: string;
}) => boolean;

/** What the handles of one app share. */
export interface AppParts {
  readonly store: Store;
  readonly reads: StoreReads;
  readonly runtime: Runtime;
  readonly group: CommitGroup;
  readonly runner: Runner;
  readonly endings: Endings;
  readonly endWatch: EndWatch;
  readonly instant: Instant;
  readonly announcer: Announcer;
  readonly definitions: ReadonlyMap<string, WorkflowDefinition>;
  /** Of the app, for what belongs to no workflow. */
  readonly limits: Limits;
  readonly nudges: NudgeWatch;
  /** Whether results of steps that are marked `sensitive` are shown. */
  readonly showSensitive: ShowSensitive;
  readonly onProblem: (problem: unknown) => void;
  /**
   * Resolves when the store may be used; rejects when the app was stopped. With a caller's transaction (`tx`) it makes no
   * tables: that would wait for the very transaction it is called from. Nor does it for those who only look.
   */
  ready(tx?: unknown): Promise<void> | undefined;
}

/** By name and not by identity: whoever serves an app may have come with another copy of this package. */
const partsKey = Symbol.for("everstep.parts");

/** Not for everybody who prints an app. */
export function withParts<App extends object>(app: App, parts: AppParts): App {
  return Object.defineProperty(app, partsKey, { value: parts });
}

/** What an app is made of, for the rooms around it. */
export function partsOf(app: object): AppParts {
  const parts = (app as { readonly [partsKey]?: AppParts })[partsKey];
  if (parts) return parts;
  throw new EverstepError("INVALID_ARGUMENT", "This is no app of createWorkflows.");
}
