/**
 * Times and durations as people say them, by one rule: what has passed is told in whole units that are over, and what is to come
 * in whole seconds that have begun. So "12 seconds ago" and "running for 12 s" agree, and so do a countdown and "in 13 seconds".
 */

export type TimeUnit = "day" | "hour" | "minute" | "second";

const units: readonly (readonly [unit: TimeUnit, sign: string, ms: number])[] = [
  ["day", "d", 86_400_000],
  ["hour", "h", 3_600_000],
  ["minute", "min", 60_000],
  ["second", "s", 1000],
];

export interface Distance {
  readonly count: number;
  readonly unit: TimeUnit;
  /** "d", "h", "min", "s". */
  readonly sign: string;
  readonly isPast: boolean;
}

/** How far away a time is, roughly; null for what is less than a second away. */
export function distanceOf(at: number, now: number): Distance | null {
  const isPast = at < now;
  const apart = Math.abs(at - now);
  if (apart < 1000) return null;
  const ms = isPast ? apart : Math.ceil(apart / 1000) * 1000;
  // What is to come is said as near as it can be: a day that has just begun is not 23 hours.
  const which = units.findIndex(([, , each], n) => ms >= (isPast ? each : each - halfOf(n + 1)));
  const [unit, sign, size] = units[which] ?? ["second", "s", 1000];
  return { count: isPast ? Math.floor(ms / size) : Math.round(ms / size), unit, sign, isPast };
}

function halfOf(unit: number): number {
  return (units[unit]?.[2] ?? 0) / 2;
}

/** "840 ms", "3.2 s", "42 s", "4 min 10 s", "2 d 3 h". */
export function spokenDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.floor(ms))} ms`;
  if (ms < 10_000) return `${Math.floor(ms / 100) / 10} s`;
  if (ms < 60_000) return `${Math.floor(ms / 1000)} s`;
  const at = units.findIndex(([, , each]) => ms >= each);
  const [, sign, size] = units[at] as (typeof units)[number];
  const [, nextSign, nextSize] = units[at + 1] as (typeof units)[number];
  const whole = Math.floor(ms / size);
  const rest = Math.floor((ms - whole * size) / nextSize);
  return rest === 0 ? `${whole} ${sign}` : `${whole} ${sign} ${rest} ${nextSign}`;
}
