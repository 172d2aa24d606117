import type { InstanceStatus } from "everstep/client";
import { Ban, CircleCheck, CircleDot, CirclePause, CircleX, Hourglass, type LucideIcon } from "lucide-react";

const icons: Readonly<Record<InstanceStatus, LucideIcon>> = {
  active: CircleDot,
  waiting: Hourglass,
  paused: CirclePause,
  complete: CircleCheck,
  errored: CircleX,
  terminated: Ban,
};

/** The one way a status is shown: colour, icon and word. */
export function Status({
  status,
  bare = false,
}: {
  readonly status: InstanceStatus;
  readonly bare?: boolean;
}) {
  const Icon = icons[status];
  return (
    <span className={`status is-${status}${bare ? " bare" : ""}`}>
      <Icon aria-hidden />
      {status}
    </span>
  );
}
