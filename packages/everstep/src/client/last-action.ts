import type { RunId } from "../model/instance.ts";
import { operatorCategory } from "../model/log-line.ts";
import type { Store } from "../store/store.ts";
import type { LastActionView } from "../wire/index.ts";
import { legible } from "./views.ts";

/** The last one of which it is known who did it. */
export async function lastAction(
  reads: Pick<Store, "listLogs">,
  runId: RunId,
): Promise<LastActionView | undefined> {
  const { items } = await reads.listLogs(runId, { category: operatorCategory, order: "desc", limit: 1 });
  const [line] = items;
  if (line === undefined) return undefined;
  const { action = "", actor = "" } = Object(line.data && legible(line.data)) as Partial<LastActionView>;
  return { action, actor, text: line.message, at: new Date(line.createdAt) };
}
