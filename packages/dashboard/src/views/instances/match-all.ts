/** Everything that matches, as far as one person can answer for it. */

import { keyOf } from "./row.ts";
import type { Chosen } from "./selection.ts";
import type { Source } from "./source.ts";

export const matchMax = 10_000;

export interface Matches {
  readonly found: readonly Chosen[];
  /** There are more than were taken. */
  readonly isMore: boolean;
}

export async function findMatches(
  source: Pick<Source, "list">,
  signal: AbortSignal,
  onFound: (count: number) => void,
): Promise<Matches> {
  const found: Chosen[] = [];
  let cursor: string | undefined;
  do {
    const page = await source.list({ cursor, signal });
    for (const { id, details, meta } of page.instances) {
      const address = { workflowName: meta.workflowName, instanceId: id };
      const updatedAt = Date.parse(meta.updatedAt);
      found.push({ key: keyOf(address), ...address, status: details.status, updatedAt });
    }
    onFound(Math.min(found.length, matchMax));
    cursor = page.hasNextPage ? page.cursor : undefined;
  } while (cursor !== undefined && found.length < matchMax && !signal.aborted);
  return { found: found.slice(0, matchMax), isMore: cursor !== undefined || found.length > matchMax };
}
