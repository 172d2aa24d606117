import type { WireStep } from "everstep/client";
import { counted } from "../../../words/numbers.ts";

type Counts = Pick<WireStep, "attempts" | "starts" | "maxAttempts">;

export function attemptsText({ attempts, maxAttempts }: Counts): string {
  return maxAttempts === null ? `${attempts}, without a limit` : `${attempts} of at most ${maxAttempts}`;
}

/** What it means that a body began more often than it came to an end. */
export function startsText({ attempts, starts }: Counts): string | null {
  const more = starts - attempts;
  if (more <= 0) return null;
  const what = more === 1 ? "was cut off by a crash and does" : "were cut off by crashes and do";
  return `${counted(more, "start")} ${what} not count as ${more === 1 ? "an attempt" : "attempts"}. The body ran again from its beginning.`;
}
