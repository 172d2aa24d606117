/** What may be done with an instance, by what it is at. The server has the last word. */
import type { InstanceStatus, WireStep, WireWhy } from "everstep/client";
import { isEnded } from "../../../words/statuses.ts";

export type ActionName =
  | "pause"
  | "resume"
  | "skipSleep"
  | "retryFailedStep"
  | "restart"
  | "fork"
  | "terminate"
  | "delete";

export function allowedActions(
  status: InstanceStatus,
  steps: readonly WireStep[],
  why: Pick<WireWhy, "mayRetry"> | null,
): ReadonlySet<ActionName> {
  const allowed = new Set<ActionName>(["restart", "fork"]);
  if (status === "active" || status === "waiting") allowed.add("pause");
  if (status === "paused") allowed.add("resume");
  if (status === "errored" && why?.mayRetry) allowed.add("retryFailedStep");
  allowed.add(isEnded(status) ? "delete" : "terminate");
  const sleeps = steps.some(isSleeping);
  if (sleeps && (status === "waiting" || status === "paused")) allowed.add("skipSleep");
  return allowed;
}

export function isSleeping({ type, status }: Pick<WireStep, "type" | "status">): boolean {
  return type === "sleep" && status === "waiting";
}
