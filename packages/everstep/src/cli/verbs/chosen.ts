/** The names of all instances that filters choose. All are read before anything is done: that changes the lists. */
import type { Client } from "../../fetch-client/index.ts";
import type { WireInstancesWithMeta } from "../../wire/index.ts";
import type { InstanceFilter } from "../instance-filter.ts";
import { maxPageSize } from "../paging.ts";

export interface Chosen {
  readonly workflowName: string;
  readonly id: string;
  /** Another instance may have the same id by the time it is its turn. */
  readonly createdAt?: string;
}

type Read = (place: {
  readonly pageSize: number;
  readonly cursor: string | undefined;
}) => Promise<WireInstancesWithMeta>;

export function chosenByFilter(
  client: Client,
  workflow: string | undefined,
  filter: InstanceFilter,
): Promise<readonly Chosen[]> {
  const asked = { ...filter, order: "asc", brief: true } as const;
  if (workflow === undefined) return everyName((place) => client.instances({ ...asked, ...place }));
  const list = (place: Parameters<Read>[0]) =>
    client.workflow(workflow).list({ ...asked, ...place, meta: true });
  return everyName(list as Read);
}

export function deadLetters(client: Client, workflowName: string | undefined): Promise<readonly Chosen[]> {
  return everyName((place) => client.deadLetters({ ...place, workflowName }));
}

/** Each once, even if it comes again because something changed between two pages. */
async function everyName(read: Read): Promise<readonly Chosen[]> {
  const found = new Map<string, Chosen>();
  let cursor: string | undefined;
  do {
    const page = await read({ pageSize: maxPageSize, cursor });
    for (const { id, meta } of page.instances) {
      const { workflowName, createdAt } = meta;
      found.set(JSON.stringify([workflowName, id]), { workflowName, id, createdAt });
    }
    cursor = page.hasNextPage ? page.cursor : undefined;
  } while (cursor !== undefined);
  return [...found.values()];
}
