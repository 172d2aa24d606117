/** What the waiting instances of a list wait for. Lists do not tell, so each is asked. */
import type { Client } from "../fetch-client/index.ts";
import type { KnownWait } from "../words/index.ts";
import type { ListedInstance } from "./output/instance-table.ts";

/** Of longer lists it is not asked: each costs a request. */
const askedMax = 100;
const atOnce = 8;

export async function waitNotes(
  client: Client,
  instances: readonly ListedInstance[],
): Promise<ReadonlyMap<ListedInstance, KnownWait>> {
  const waiting = instances.filter(({ details, meta }) => details.status === "waiting" && meta !== undefined);
  const notes = new Map<ListedInstance, KnownWait>();
  if (waiting.length > askedMax) return notes;
  const left = [...waiting];
  const work = async (): Promise<void> => {
    for (let each = left.pop(); each?.meta !== undefined; each = left.pop()) {
      const instance = client.workflow(each.meta.workflowName).get(each.id);
      // The list is worth showing without it: the instance may be gone, or not for everybody to look at.
      const why = await instance.why().catch(() => undefined);
      if (why?.waitsFor) notes.set(each, why);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return notes;
}
