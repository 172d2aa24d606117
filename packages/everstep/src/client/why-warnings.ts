/** What else is worth a look at an instance that does not move. */

import type { WhyView } from "../handles/views.ts";
import type { RunId } from "../model/instance.ts";
import { type StoredLogLine, systemCategory } from "../model/log-line.ts";
import type { Store } from "../store/store.ts";

/** The newest ones: a misspelt event is one of the last things that somebody did. */
const lookedAt = 5;

export async function whyWarnings(
  reads: Pick<Store, "listEvents">,
  runId: RunId,
  why: WhyView,
  newest: readonly StoredLogLine[],
): Promise<readonly string[]> {
  const { eventType } = why.waitsFor ?? {};
  const unasked = eventType === undefined ? [] : await unaskedEvents(reads, runId, eventType);
  return [...unasked, ...engineWarnings(newest)];
}

/** Whoever misspelt a type sees the instance wait, and nothing of the event. */
async function unaskedEvents(
  reads: Pick<Store, "listEvents">,
  runId: RunId,
  awaited: string,
): Promise<readonly string[]> {
  const { items } = await reads.listEvents(runId, { limit: lookedAt, order: "desc" });
  const types = items
    .filter(({ consumedBy, system, topic }) => consumedBy === null && !system && topic === null)
    .map(({ type }) => type)
    .filter((type) => type !== null && type !== awaited);
  return [...new Set(types)].map(
    (type) => `An event of type "${type}" has come that no step asks for; the wait is for "${awaited}".`,
  );
}

/** As many as are read at a glance; the log has all of them. */
const shown = 3;

/** What the engine itself has logged of a run, newest first: an event of it that reached nobody, a step nobody awaited. */
function engineWarnings(newest: readonly StoredLogLine[]): readonly string[] {
  const own = newest.filter(({ category }) => category === systemCategory);
  return own.slice(0, shown).map(({ message }) => message);
}
