import { eventsBytes, stepsBytes } from "../model/bytes.ts";
import type { RunHistory, RunRead } from "./store.ts";

/** How much memory a history takes. */
export function historyBytes(history: RunHistory): number {
  return history.kind === "history" ? stepsBytes(history.steps) + eventsBytes(history.events) : 0;
}

/** Reads one run after the other until they take that many bytes: how a store does it that has no better way. */
export function readWithin(
  requests: readonly RunRead[],
  maxBytes: number = Number.POSITIVE_INFINITY,
  read: (request: RunRead) => readonly RunHistory[],
): readonly RunHistory[] {
  let bytes = 0;
  return requests.flatMap((request): readonly RunHistory[] => {
    if (bytes >= maxBytes) return [{ kind: "unread", runId: request.runId }];
    const found = read(request);
    for (const history of found) bytes += historyBytes(history);
    return found;
  });
}
