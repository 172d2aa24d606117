/** A time that is typed: as such, or as how long from now. */
import { hasExistingDay } from "../model/existing-day.ts";
import { UsageError } from "./problems.ts";
import { durationFrom } from "./typed-duration.ts";

/** Milliseconds: since 1970, or after now. */
export type Moment = { readonly at: number } | { readonly after: number };

export function readMoment(what: string, text: string): Moment {
  const after = durationFrom(text);
  if (after !== undefined) return { after };
  const at = isoText.test(text) && hasExistingDay(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return { at };
  throw new UsageError(
    `${what} is ${JSON.stringify(text)}; it must be a time (2026-01-31T12:00:00Z), a day in UTC (2026-01-31), or how long from now (30s, 2m, 1h, 7d).`,
  );
}

export function timeOf(moment: Moment, now: number): number {
  return "at" in moment ? moment.at : now + moment.after;
}

// A time has its offset: without one it would mean another instant on every machine.
const isoText = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;
