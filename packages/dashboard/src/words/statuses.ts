import type { InstanceStatus } from "everstep/client";

export const statuses: readonly InstanceStatus[] = [
  "active",
  "waiting",
  "paused",
  "complete",
  "errored",
  "terminated",
];

export function isEnded(status: InstanceStatus): boolean {
  return status === "complete" || status === "errored" || status === "terminated";
}
