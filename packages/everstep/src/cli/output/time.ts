/** Times and durations as people say them. */
import { distanceOf, spokenDuration } from "../../words/index.ts";

export { spokenDuration };

const minute = 60_000;

/** "5 min ago", "in 2 h", "now". */
export function relativeTime(iso: string, now: number): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return iso;
  const distance = distanceOf(at, now);
  if (!distance) return "now";
  const words = `${distance.count} ${distance.sign}`;
  return distance.isPast ? `${words} ago` : `in ${words}`;
}

/** When something that is due happens: what should have happened happens now. */
export function whenDue(iso: string, now: number): string {
  return Date.parse(iso) <= now ? "now" : relativeTime(iso, now);
}

/** "2026-01-31 13:00:00 +01:00": as the clocks here have it, to the second. */
export function absoluteTime(iso: string): string {
  const local = localTime(iso);
  return local === null ? iso : `${local.day} ${local.time.slice(0, 8)} ${local.zone}`;
}

export interface LocalTime {
  readonly day: string;
  /** To the millisecond. */
  readonly time: string;
  readonly zone: string;
}

/** null of what is no time. */
export function localTime(iso: string): LocalTime | null {
  const time = new Date(iso);
  const ms = time.getTime();
  if (Number.isNaN(ms)) return null;
  const offset = -time.getTimezoneOffset();
  const [day = "", rest = ""] = new Date(ms + offset * minute).toISOString().split("T");
  return { day, time: rest.slice(0, 12), zone: zoneOf(offset) };
}

function zoneOf(offset: number): string {
  if (offset === 0) return "UTC";
  const two = (part: number): string => String(Math.floor(part)).padStart(2, "0");
  return `${offset < 0 ? "-" : "+"}${two(Math.abs(offset) / 60)}:${two(Math.abs(offset) % 60)}`;
}

export function durationBetween(from: string, to: string | number): number {
  return Math.max(0, (typeof to === "number" ? to : Date.parse(to)) - Date.parse(from));
}
