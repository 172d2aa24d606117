import type { InstanceStatus } from "../model/instance.ts";
import type { VerifyReport } from "../verify/verify-report.ts";
import type { ActivityView, RunnerView, TopicView, WaiterView, WorkflowManifest } from "../wire/index.ts";
import type { ActivityOptions, AuditOptions, PageOptions, PublishOptions } from "../wire/options.ts";
import type { PageView } from "../wire/page.ts";
import type { ListOptions } from "./options.ts";
import type { InstanceView } from "./views.ts";
import type { WorkflowHandle } from "./workflow-handle.ts";

/** What an app and a client of it have in common. */
export interface AppHandle<Workflows = Readonly<Record<string, WorkflowHandle>>> {
  /** By the key of `createWorkflows` in an app, by name in a client. */
  readonly workflows: Workflows;
  /** By its name, for names that are known at run time only. */
  workflow(name: string): WorkflowHandle;
  /** What is registered: names, whether params and output are checked, limits. */
  manifest(): Promise<readonly WorkflowManifest[]>;
  /** Instances of all workflows in the store, newest first. */
  list(options?: ListOptions): Promise<PageView<InstanceView>>;
  /** Instances by status: of one workflow, or of all in the store. */
  counts(workflowName?: string): Promise<Readonly<Record<InstanceStatus, number>>>;
  /** One event for every instance that waits on the topic now; says how many. */
  publish(topic: string, payload?: unknown, options?: PublishOptions): Promise<{ readonly waiters: number }>;
  waiters(topic: string, options?: PageOptions): Promise<PageView<WaiterView>>;
  /** Topics that instances wait on now, by name. */
  topics(options?: PageOptions): Promise<PageView<TopicView>>;
  /** Who runs instances of this store, in whichever process; those seen last first. */
  runners(): Promise<readonly RunnerView[]>;
  /** How much runners got done over time, of one workflow or of all. Counted now and then, not exactly. */
  activity(options?: ActivityOptions): Promise<ActivityView>;
  /**
   * Audits the store: judges what is recorded of each run by what the engine promises, and says what does not get on.
   * Reads only, beside live work, in bounded pages; at most `limit` instances a call.
   */
  verify(options?: AuditOptions): Promise<VerifyReport>;
}
