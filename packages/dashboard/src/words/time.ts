/** Times and durations as people read them. */

import { distanceOf, spokenDuration } from "./common.ts";

export { spokenDuration };

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

/** "3 minutes ago", "in 2 days", "now". */
export function spokenAgo(at: number, now: number): string {
  const distance = distanceOf(at, now);
  if (!distance) return "now";
  const { count, unit, isPast } = distance;
  return relative.format(isPast ? -count : count, unit);
}

/** "7 s", "1 min 3 s": of what goes on, where it is read at a glance. */
export function spokenRunning(ms: number): string {
  return ms < 10_000 ? `${Math.max(0, Math.floor(ms / 1000))} s` : spokenDuration(ms);
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
