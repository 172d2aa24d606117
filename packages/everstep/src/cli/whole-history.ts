/** A run's steps, events and log lines, from as many pages as they have. */
import type { InstanceClient } from "../fetch-client/index.ts";
import type { WireEvent, WireHistory, WireLogLine, WireStep } from "../wire/index.ts";

export interface WholeHistory {
  readonly runNumber: number;
  readonly steps: readonly WireStep[];
  readonly events: readonly WireEvent[];
  readonly logs: readonly WireLogLine[];
}

export type HistoryRequest = NonNullable<Parameters<InstanceClient["history"]>[0]>;

const pageSize = 100;

export async function wholeHistory(
  instance: InstanceClient,
  request: HistoryRequest = {},
): Promise<WholeHistory> {
  const first = await instance.history({ ...request, pageSize });
  const steps = [...first.steps];
  const events = [...first.events];
  const logs = [...(first.logs ?? [])];
  let page: Ends = first;
  while (hasMore(page)) {
    // The run is named from here on: the instance may be restarted between two pages.
    const next = await instance.history({
      ...request,
      pageSize,
      runNumber: first.runNumber,
      ...cursorsOf(page),
    });
    // A list that is over begins anew when it is asked for without a cursor.
    if (page.stepsHasNextPage) steps.push(...next.steps);
    if (page.eventsHasNextPage) events.push(...next.events);
    if (page.logsHasNextPage) logs.push(...(next.logs ?? []));
    page = afterBoth(page, next);
  }
  return { runNumber: first.runNumber, steps, events, logs };
}

type Ends = Pick<
  WireHistory,
  "stepsCursor" | "stepsHasNextPage" | "eventsCursor" | "eventsHasNextPage" | "logsCursor" | "logsHasNextPage"
>;

function hasMore(page: Ends): boolean {
  return page.stepsHasNextPage || page.eventsHasNextPage || page.logsHasNextPage === true;
}

function cursorsOf(page: Ends): HistoryRequest {
  const { stepsCursor, eventsCursor, logsCursor } = page;
  return {
    ...(page.stepsHasNextPage && stepsCursor !== undefined ? { stepsCursor } : {}),
    ...(page.eventsHasNextPage && eventsCursor !== undefined ? { eventsCursor } : {}),
    ...(page.logsHasNextPage && logsCursor !== undefined ? { logsCursor } : {}),
  };
}

function afterBoth(page: Ends, next: Ends): Ends {
  return {
    ...next,
    stepsHasNextPage: page.stepsHasNextPage && next.stepsHasNextPage,
    eventsHasNextPage: page.eventsHasNextPage && next.eventsHasNextPage,
    logsHasNextPage: page.logsHasNextPage === true && next.logsHasNextPage === true,
  };
}
