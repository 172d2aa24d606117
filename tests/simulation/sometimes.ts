/**
 * What must come up now and then. A simulation that never gets there shows nothing about it, so it fails: silence is not
 * success.
 */
export const sometimes: readonly string[] = [
  "fate: delivered",
  "fate: refused",
  "fate: contended",
  "fate: reply lost",
  "fate: late",
  "fate: crash before",
  "fate: crash after",
  "process killed",
  "process frozen for",
  "process thawed",
  "process stopped",
  "process cut off for",
  "process clock set to",
  "process has a silent connection for",
  "process hears no answer to claim for",
  "fate: swallowed",
  "writes lost",
  "status: active",
  "status: waiting",
  "status: paused",
  "status: complete",
  "status: errored",
  "status: terminated",
  "claimed",
  "claimed after a crash",
  "create: created",
  "create: exists",
  "commit: committed",
  "commit: paused",
  "commit: superseded",
  "commit: mutation-failed",
  "sendEvent: accepted",
  "sendEvent: terminal",
  "event sent again",
  "suspended into an event",
  "timeout refused",
  "publish: published",
  "change: changed",
  "change: refused",
  "abandon: abandoned",
  "failed: PAYLOAD_TOO_LARGE",
  "ended: CRASH_LOOP",
  "ended: INTERRUPTED_BY_RESTART",
  "deed: hold up",
  "deed: fork",
  "deed: retry",
  "deed: skip",
  "deed: restart from",
];

/** What is missing of it. */
export function neverSeen(sightings: ReadonlyMap<string, number>): readonly string[] {
  return sometimes.filter((what) => !sightings.has(what));
}
