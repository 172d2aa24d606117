/** What the waiting instances of a list wait for. Lists do not tell, so each is asked. */
import type { Client } from "../fetch-client/index.ts";
import type { WireWhy } from "../wire/index.ts";
import type { ListedInstance } from "./output/instance-table.ts";

/** Of longer lists it is not asked: each costs a request. */
const askedMax = 100;
const atOnce = 8;

/** `approval ← event approved`, by instance. */
export async function waitNotes(
  client: Client,
  instances: readonly ListedInstance[],
): Promise<ReadonlyMap<ListedInstance, string>> {
  const waiting = instances.filter(({ details, meta }) => details.status === "waiting" && meta !== undefined);
  const notes = new Map<ListedInstance, string>();
  if (waiting.length > askedMax) return notes;
  const left = [...waiting];
  const work = async (): Promise<void> => {
    for (let each = left.pop(); each?.meta !== undefined; each = left.pop()) {
      const instance = client.workflow(each.meta.workflowName).get(each.id);
      // The list is worth showing without it: the instance may be gone, or not for everybody to look at.
      const why = await instance.why().catch(() => undefined);
      const note = why && noteOf(why);
      if (note) notes.set(each, note);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return notes;
}

function noteOf({ reason, waitsFor }: WireWhy): string | undefined {
  if (waitsFor === undefined) return undefined;
  const { stepName, eventType, topic } = waitsFor;
  if (topic !== undefined) return `${stepName} ← topic ${topic}`;
  if (eventType !== undefined) return `${stepName} ← event ${eventType}`;
  return reason === "waiting-for-retry" ? `${stepName} is tried again` : `${stepName} sleeps`;
}
