import type { WireStep } from "everstep/client";
import { CircleCheck, CircleDot, CircleX, Hourglass } from "lucide-react";

const looks = {
  completed: { Icon: CircleCheck, look: "is-complete" },
  errored: { Icon: CircleX, look: "is-errored" },
  waiting: { Icon: Hourglass, look: "is-waiting" },
  running: { Icon: CircleDot, look: "is-active" },
} as const;

export function StepState({ step }: { readonly step: WireStep }) {
  const { Icon, look } = looks[step.status];
  return (
    <span className={`status ${look}`}>
      <Icon aria-hidden />
      {step.status}
    </span>
  );
}
