/** What the head of an instance leads with. One thing says it once: no sentence repeats what a strip beside it counts down. */
import type { InstanceStatus, WireWhy } from "everstep/client";
import { isEnded } from "../../../words/statuses.ts";

export type LeadKind =
  | "error"
  | "terminated"
  | "paused"
  /** The strip of waits: what for, how long still, and the way to cut that short. */
  | "waits"
  /** Bodies that run now. */
  | "running"
  /** Its start is still to come. */
  | "scheduled"
  /** A sentence of the server's: nobody takes it, its runner is silent, it crashes. */
  | "why"
  | "nothing";

/** What the strip of waits says by itself. */
const waiting = ["sleeping", "waiting-for-event", "waiting-for-topic", "waiting-for-retry"];

export interface LeadTerms {
  readonly status: InstanceStatus;
  readonly why: Pick<WireWhy, "reason"> | null;
  readonly waitCount: number;
  readonly bodyCount: number;
}

export function leadKind({ status, why, waitCount, bodyCount }: LeadTerms): LeadKind {
  if (status === "errored") return "error";
  if (status === "complete") return "nothing";
  if (isEnded(status)) return "terminated";
  if (status === "paused") return status;
  if (why === null) return bodyCount > 0 ? "running" : waitCount > 0 ? "waits" : "why";
  if (why.reason === "executing") return bodyCount > 0 ? "running" : "why";
  if (why.reason === "not-started-yet") return "scheduled";
  return waiting.includes(why.reason) && waitCount > 0 ? "waits" : "why";
}
