/** What one can ask an app about its store as a whole. */

import { checkTopic } from "../authoring/names.ts";
import type { AppHandle } from "../handles/app-handle.ts";
import { type InstanceStatus, instanceStatuses } from "../model/instance.ts";
import { checkNames } from "../model/known-names.ts";
import { pageNames } from "../wire/option-names.ts";
import { readActivity } from "./activity.ts";
import type { AppParts } from "./app-parts.ts";
import { hooksWorkflowName } from "./lifecycle-hooks.ts";
import { type DueOptions, type DueView, listDue } from "./list-due.ts";
import { listInstances } from "./list-instances.ts";
import { listTopics } from "./list-topics.ts";
import { pageQuery, pageView } from "./paging.ts";
import { listRunners } from "./runners.ts";
import { waiterView } from "./views.ts";

/** What only the process of the app can be asked. */
export interface AppReading
  extends Pick<AppHandle, "waiters" | "topics" | "counts" | "list" | "runners" | "activity"> {
  /** What is due and no runner has taken, or will be due until some time: over all workflows, soonest first. */
  due(options?: DueOptions): Promise<readonly DueView[]>;
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
