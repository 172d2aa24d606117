import { checkNames } from "../model/known-names.ts";
import type { Limits } from "../model/limits.ts";
import type { TopicView } from "../wire/index.ts";
import { pageNames } from "../wire/option-names.ts";
import type { PageOptions } from "../wire/options.ts";
import type { PageView } from "../wire/page.ts";
import type { AppParts } from "./app-parts.ts";
import { pageQuery, pageView } from "./paging.ts";

/** By name. A page may be short, or even empty, and there may still be more. */
export async function listTopics(
  options: PageOptions,
  limits: Limits,
  parts: AppParts,
): Promise<PageView<TopicView>> {
  checkNames(options, pageNames, "topics");
  const list = "topics";
  const query = pageQuery(list, options, limits);
  await parts.ready();
  return pageView(list, await parts.reads.listTopics(query), ({ topic, waiters }) => ({ topic, waiters }));
}
