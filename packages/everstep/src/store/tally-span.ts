import type { TallyQuery } from "./beat.ts";

/** Minutes that one question may ask for. */
export const tallyMinutesMax: number = 7 * 24 * 60;

const minuteMs = 60_000;

/** The minutes asked for, as far as one answer may go back. */
export function tallySpan({ from, to }: TallyQuery): { readonly from: number; readonly to: number } {
  return { from: Math.max(from, to - tallyMinutesMax * minuteMs), to };
}
