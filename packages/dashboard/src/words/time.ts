/** Times and durations as people read them. */

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, string, number])[] = [
  ["day", "d", 86_400_000],
  ["hour", "h", 3_600_000],
  ["minute", "min", 60_000],
  ["second", "s", 1000],
];

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** "3 minutes ago", "in 2 days", "now". */
export function spokenAgo(at: number, now: number): string {
  const ms = at - now;
  if (Math.abs(ms) < 1000) return "now";
  const which = units.findIndex(([, , each], n) => Math.abs(ms) >= (ms > 0 ? each - halfOf(n + 1) : each));
  const [unit, , size] = units[which] ?? ["second", "s", 1000];
  // What is past is over for so long; what is still to come is said as near as it can be.
  return relative.format(ms > 0 ? Math.round(ms / size) : Math.trunc(ms / size), unit);
}

function halfOf(unit: number): number {
  return (units[unit]?.[2] ?? 0) / 2;
}

/** "840 ms", "3.2 s", "4 min 10 s", "2 d 3 h". */
export function spokenDuration(ms: number): string {
  if (ms < 1) return "0 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  const at = units.findIndex(([, , each]) => ms >= each);
  const [, sign, size] = units[at] as (typeof units)[number];
  const [, nextSign, nextSize] = units[at + 1] as (typeof units)[number];
  const whole = Math.floor(ms / size);
  const rest = Math.floor((ms - whole * size) / nextSize);
  return rest === 0 ? `${whole} ${sign}` : `${whole} ${sign} ${rest} ${nextSign}`;
}

/** "1:05", "2:03:04", "3 d 2:03:04": for what counts down. */
export function spokenClock(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  const parts = hours > 0 || days > 0 ? [hours, two(minutes)] : [minutes];
  const clock = [...parts, two(seconds % 60)].join(":");
  return days > 0 ? `${days} d ${clock}` : clock;
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}

/** The reader's time zone. */
export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

const full = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "medium",
  hourCycle: "h23",
});

/** With its time zone, to the millisecond. */
export function spokenTime(at: number): string {
  return `${full.format(at)}.${String(new Date(at).getMilliseconds()).padStart(3, "0")} (${zone})`;
}

const clockTime = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const thisYear = new Intl.DateTimeFormat("en", {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const otherYear = new Intl.DateTimeFormat("en", { year: "numeric", month: "short", day: "numeric" });

/** As short as it can be said without a doubt: "14:03:22" today, "May 6, 14:03" this year, "May 6, 2024" else. */
export function spokenExact(at: number, now: number): string {
  const [then, today] = [new Date(at), new Date(now)];
  if (then.toDateString() === today.toDateString()) return clockTime.format(at);
  return (then.getFullYear() === today.getFullYear() ? thisYear : otherYear).format(at);
}

const dayTime = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});

/** "14:03:22.118". */
export function spokenDayTime(at: number): string {
  return `${dayTime.format(at)}.${String(new Date(at).getMilliseconds()).padStart(3, "0")}`;
}

export function timeOf(iso: string): number {
  return Date.parse(iso);
}
