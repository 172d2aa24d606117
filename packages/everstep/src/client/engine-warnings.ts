import type { RunId } from "../model/instance.ts";
import { systemCategory } from "../model/log-line.ts";
import type { Store } from "../store/store.ts";

/** As many as are read at a glance; the log has all of them. */
const shown = 3;

/** What the engine itself has logged of a run, newest first: an event of it that reached nobody, a step nobody awaited. */
export async function engineWarnings(
  reads: Pick<Store, "listLogs">,
  runId: RunId,
): Promise<readonly string[]> {
  const { items } = await reads.listLogs(runId, { category: systemCategory, order: "desc", limit: shown });
  return items.map(({ message }) => message);
}
