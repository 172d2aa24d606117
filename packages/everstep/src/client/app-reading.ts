/** What one can ask an app about its store as a whole. */

import { checkTopic } from "../authoring/names.ts";
import { type InstanceStatus, instanceStatuses } from "../model/instance.ts";
import { checkNames } from "../model/known-names.ts";
import type { ActivityView, RunnerView, TopicView, WaiterView } from "../wire/index.ts";
import { pageNames } from "../wire/option-names.ts";
import type { ActivityOptions, PageOptions } from "../wire/options.ts";
import { readActivity } from "./activity.ts";
import type { AppParts } from "./app-parts.ts";
import { hooksWorkflowName } from "./lifecycle-hooks.ts";
import { type DueOptions, type DueView, listDue } from "./list-due.ts";
import { type ListOptions, listInstances } from "./list-instances.ts";
import { listTopics } from "./list-topics.ts";
import { type PageView, pageQuery, pageView } from "./paging.ts";
import { listRunners } from "./runners.ts";
import { type InstanceView, waiterView } from "./views.ts";

export interface AppReading {
  waiters(topic: string, options?: PageOptions): Promise<PageView<WaiterView>>;
  /** Topics that instances wait on now, by name. */
  topics(options?: PageOptions): Promise<PageView<TopicView>>;
  /** What is due and no runner has taken, or will be due until some time: over all workflows, soonest first. */
  due(options?: DueOptions): Promise<readonly DueView[]>;
  /** Instances by status: of one workflow, or of all in the store. */
  counts(workflowName?: string): Promise<Readonly<Record<InstanceStatus, number>>>;
  /** Instances of all workflows in the store, newest first. */
  list(options?: ListOptions): Promise<PageView<InstanceView>>;
  /** Who runs instances of this store, in whichever process; those seen last first. */
  runners(): Promise<readonly RunnerView[]>;
  /** How much runners got done over time, of one workflow or of all. Counted now and then, not exactly. */
  activity(options?: ActivityOptions): Promise<ActivityView>;
}

export function appReading(parts: AppParts): AppReading {
  const { limits, reads } = parts;
  return {
    async waiters(topic, page = {}) {
      checkTopic(topic, limits);
      checkNames(page, pageNames, "waiters");
      await parts.ready();
      const list = `waiters:${topic}`;
      return pageView(list, await reads.listWaiters(topic, pageQuery(list, page, limits)), waiterView);
    },
    topics: (page = {}) => listTopics(page, limits, parts),
    due: (options = {}) => listDue(options, parts),
    async counts(workflowName) {
      await parts.ready();
      const counts = await reads.countByStatus(workflowName);
      if (workflowName !== undefined) return counts;
      const tellings = await reads.countByStatus(hooksWorkflowName);
      return mapCounts(counts, (status, count) => count - tellings[status]);
    },
    list: (options = {}) => listInstances(undefined, options, limits, parts),
    runners: () => listRunners(parts),
    activity: (options = {}) => readActivity(options, parts),
  };
}

type Counts = Readonly<Record<InstanceStatus, number>>;

function mapCounts(counts: Counts, change: (status: InstanceStatus, count: number) => number): Counts {
  const entries = instanceStatuses.map((status) => [status, change(status, counts[status])] as const);
  return Object.fromEntries(entries) as Record<InstanceStatus, number>;
}
