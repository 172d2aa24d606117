import { statusFrom } from "../engine/instance-words.ts";
import { EverstepError } from "../model/error.ts";
import type { InstanceStatus } from "../model/instance.ts";
import type { Limits } from "../model/limits.ts";
import type { AppParts } from "./app-parts.ts";
import { hooksWorkflowName } from "./lifecycle-hooks.ts";
import { type PageOptions, type PageView, pageQuery, pageView } from "./paging.ts";
import { type InstanceView, instanceView } from "./views.ts";

export interface ListOptions extends PageOptions {
  /** One status or several; words of other engines (running, failed, ...) are understood. */
  readonly status?: string | readonly string[] | undefined;
  readonly deadLetter?: boolean | undefined;
}

/** A page of a workflow's instances, or of all workflows', without those the engine keeps for itself. */
export async function listInstances(
  workflowName: string | undefined,
  options: ListOptions,
  limits: Limits,
  parts: AppParts,
): Promise<PageView<InstanceView>> {
  const { deadLetter, status } = options;
  const list = workflowName === undefined ? "instances" : `instances:${workflowName}`;
  const query = pageQuery(list, options, limits);
  const statuses = status === undefined ? undefined : [status].flat().map(knownStatus);
  await parts.ready();
  const page = await parts.reads.listInstances({
    ...query,
    ...(workflowName === undefined ? {} : { workflowName }),
    ...(statuses === undefined ? {} : { statuses }),
    ...(deadLetter === undefined ? {} : { deadLetter }),
  });
  const isShown = (record: { readonly workflowName: string }): boolean =>
    workflowName !== undefined || record.workflowName !== hooksWorkflowName;
  const shown = { ...page, items: page.items.filter(isShown) };
  return pageView(list, shown, (record) => instanceView(record, parts.runtime.now()));
}

function knownStatus(word: string): InstanceStatus {
  const status = statusFrom(word);
  if (status) return status;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `"${String(word)}" is not a status. Use active, waiting, paused, complete, errored or terminated.`,
  );
}
