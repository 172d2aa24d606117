import type { InstanceHandle } from "../client/instance-handle.ts";
import type { HistoryView } from "../client/run-pages.ts";
import type { LogLineView } from "../client/views.ts";
import type { LogLevel } from "../model/log-line.ts";

export interface ListHistoryOptions {
  readonly workflowName: string;
  readonly instanceId: string;
  /** Another run than the current one. */
  readonly runNumber?: number;
  readonly pageSize?: number;
  readonly stepsCursor?: string;
  readonly eventsCursor?: string;
  readonly order?: "asc" | "desc";
  readonly includeLogs?: boolean;
  readonly logsCursor?: string;
  readonly logLevel?: LogLevel;
  readonly logCategory?: string;
}

export interface HistoryPage extends HistoryView {
  /** With `includeLogs`. */
  readonly logs?: readonly LogLineView[];
  readonly logsCursor?: string;
  readonly logsHasNextPage?: boolean;
}

export async function listHistory(instance: InstanceHandle, query: ListHistoryOptions): Promise<HistoryPage> {
  const { runNumber, pageSize, order, stepsCursor, eventsCursor } = query;
  const page = defined({ pageSize, order });
  const history = await instance.history({
    ...page,
    ...defined({ runNumber, cursor: stepsCursor, eventsCursor }),
  });
  if (!query.includeLogs) return history;
  const { logsCursor, logLevel, logCategory } = query;
  // Of the run whose steps are shown, whatever was restarted meanwhile.
  const logs = await instance.logs({
    ...page,
    runNumber: history.runNumber,
    ...defined({ cursor: logsCursor, level: logLevel, category: logCategory }),
  });
  return {
    ...history,
    logs: logs.items,
    ...defined({ logsCursor: logs.cursor }),
    logsHasNextPage: logs.hasNextPage,
  };
}

type Defined<Options> = { readonly [Key in keyof Options]?: NonNullable<Options[Key]> };

/** Without what was not given. */
function defined<Options extends object>(options: Options): Defined<Options> {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as Defined<Options>;
}
