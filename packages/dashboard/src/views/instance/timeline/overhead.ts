/** What is too little to be worth anybody's look: the engine's own share, while it is below a percent. */
import type { Phase, PhaseKind, Times } from "./phases.ts";

const overheads: readonly PhaseKind[] = ["queued", "between"];
const shareMin = 0.01;

export function isNegligible(kind: PhaseKind, times: Times): boolean {
  return overheads.includes(kind) && times[kind] < shareMin * times.total;
}

/** Without what is next to nothing. */
export function withoutOverhead(phases: readonly Phase[], times: Times): readonly Phase[] {
  return phases.filter(({ kind }) => !isNegligible(kind, times));
}
