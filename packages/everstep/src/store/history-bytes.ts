import { eventsBytes, stepsBytes } from "../model/bytes.ts";
import type { RunHistory } from "./store.ts";

/** How much memory a history takes. */
export function historyBytes(history: RunHistory): number {
  return history.kind === "history" ? stepsBytes(history.steps) + eventsBytes(history.events) : 0;
}
