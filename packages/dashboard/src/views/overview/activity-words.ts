/** What the charts show, in a sentence each. */
import { counted, spokenNumber } from "../../words/numbers.ts";
import type { Totals } from "./chart.ts";

/** Ends are counted as they happen: an instance that was retried or restarted ends more than once. */
export function endedWords({ ended }: Pick<Totals, "ended">, range: string): string {
  if (ended === 0) return `No runs ended in the ${range}`;
  const runs = `${counted(ended, "run")} ended in the ${range}`;
  return `${runs}; a retried one counts each time it ended, one that a person terminated does not`;
}

export function errorWords({ ended, errored }: Pick<Totals, "ended" | "errored">, range: string): string {
  if (ended === 0) return `No runs ended in the ${range}`;
  return `${spokenPercent((errored / ended) * 100)} of ${spokenNumber(ended)} errored in the ${range}`;
}

export function spokenPercent(value: number): string {
  return `${value > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} %`;
}
