import type { HistoryPage } from "../wire/index.ts";
import type { HistoryPageOptions } from "../wire/options.ts";
import type { InstanceHandle } from "./instance-handle.ts";

/** Steps and events of a run, and its log if asked for, as one page. */
export async function listHistory(
  instance: Pick<InstanceHandle, "history" | "logs">,
  options: HistoryPageOptions,
): Promise<HistoryPage> {
  const { runNumber, pageSize, order, stepsCursor, eventsCursor, includeLogs } = options;
  const history = await instance.history({ runNumber, pageSize, order, cursor: stepsCursor, eventsCursor });
  if (!includeLogs) return history;
  // Of the run whose steps are shown, whatever was restarted meanwhile.
  const { items, cursor, hasNextPage } = await instance.logs({
    runNumber: history.runNumber,
    pageSize,
    order,
    cursor: options.logsCursor,
    level: options.logLevel,
    category: options.logCategory,
  });
  return {
    ...history,
    logs: items,
    ...(cursor === undefined ? {} : { logsCursor: cursor }),
    logsHasNextPage: hasNextPage,
  };
}
