import { statusFrom } from "../engine/instance-words.ts";
import type { ListOptions } from "../handles/options.ts";
import type { InstanceView } from "../handles/views.ts";
import { instanceBytes } from "../model/bytes.ts";
import { EverstepError } from "../model/error.ts";
import type { InstanceRecord, InstanceStatus } from "../model/instance.ts";
import { checkNames } from "../model/known-names.ts";
import type { Limits } from "../model/limits.ts";
import type { InstanceQuery, Page, PageQuery } from "../store/store.ts";
import { listNames } from "../wire/option-names.ts";
import type { PageView } from "../wire/page.ts";
import type { AppParts } from "./app-parts.ts";
import { hooksWorkflowName } from "./lifecycle-hooks.ts";
import { pageQuery, pageView, readWithin } from "./paging.ts";
import { pointInTime } from "./point-in-time.ts";
import { instanceView, withoutValues } from "./views.ts";

/** A page of a workflow's instances, or of all workflows', without those the engine keeps for itself. */
export async function listInstances(
  workflowName: string | undefined,
  options: ListOptions,
  limits: Limits,
  parts: AppParts,
): Promise<PageView<InstanceView>> {
  checkNames(options, listNames, "list");
  const { deadLetter, status, createdFrom, createdBefore, idPrefix, brief = false } = options;
  const list = workflowName === undefined ? "instances" : `instances:${workflowName}`;
  const query = pageQuery(list, options, limits);
  const statuses = status === undefined ? undefined : [status].flat().map(knownStatus);
  const filters: Filters = {
    ...(createdFrom === undefined ? {} : { createdFrom: pointInTime(createdFrom, "createdFrom") }),
    ...(createdBefore === undefined ? {} : { createdBefore: pointInTime(createdBefore, "createdBefore") }),
    ...(idPrefix === undefined || idPrefix === "" ? {} : { idPrefix: checkPrefix(idPrefix, limits) }),
  };
  await parts.ready();
  const read = (part: PageQuery): Promise<Page<InstanceRecord>> =>
    parts.reads.listInstances({
      ...part,
      ...(workflowName === undefined ? {} : { workflowName }),
      ...(statuses === undefined ? {} : { statuses }),
      ...(deadLetter === undefined ? {} : { deadLetter }),
      ...(brief ? { brief } : {}),
      ...filters,
    });
  const readShown = workflowName === undefined ? withoutOwn(read) : read;
  const shown = brief
    ? await readShown(query)
    : await readWithin(readShown, query, instanceBytes, limits.maxPageBytes);
  const view = (record: InstanceRecord): InstanceView => instanceView(record, parts.runtime.now());
  return pageView(list, shown, brief ? (record) => withoutValues(view(record)) : view);
}

/** How many pages of nothing but the engine's own instances are read for one that shows others. */
const ownPagesMax = 50;

/** There may be one for each instance that ended: a page is filled with those that people made. */
function withoutOwn(
  read: (query: PageQuery) => Promise<Page<InstanceRecord>>,
): (query: PageQuery) => Promise<Page<InstanceRecord>> {
  return async (query) => {
    const items: InstanceRecord[] = [];
    let next = query;
    for (let pages = 1; ; pages++) {
      const { items: found, after } = await read(next);
      for (const item of found) if (item.workflowName !== hooksWorkflowName) items.push(item);
      const isFull = items.length >= query.limit || pages === ownPagesMax || found.length < next.limit;
      if (after === undefined) return { items };
      if (isFull) return { items, after };
      next = { ...query, after, limit: query.limit - items.length };
    }
  };
}

type Filters = Pick<InstanceQuery, "createdFrom" | "createdBefore" | "idPrefix">;

function checkPrefix(prefix: unknown, limits: Limits): string {
  if (typeof prefix === "string" && prefix.length <= limits.maxInstanceIdLength) return prefix;
  const shown = typeof prefix === "string" ? `a text of ${prefix.length} characters` : `a ${typeof prefix}`;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `idPrefix is ${shown}; it must be the beginning of an id, a text of at most ${limits.maxInstanceIdLength} characters.`,
  );
}

function knownStatus(word: string): InstanceStatus {
  const status = statusFrom(word);
  if (status) return status;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `"${String(word)}" is not a status. Use active, waiting, paused, complete, errored or terminated.`,
  );
}
