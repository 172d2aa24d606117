/** Times and durations as people say them. */
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** "5 min ago", "in 2 h", "now". */
export function relativeTime(iso: string, now: number): string {
  const distance = Date.parse(iso) - now;
  const size = Math.abs(distance);
  if (Number.isNaN(size)) return iso;
  if (size < second) return "now";
  const words = roughly(size);
  return distance < 0 ? `${words} ago` : `in ${words}`;
}

/** In the largest unit of which there is more than one and a half. */
function roughly(ms: number): string {
  const [size, word] = units.find(([unit]) => ms >= 1.5 * unit) ?? [second, "s"];
  return `${Math.round(ms / size)} ${word}`;
}

const units: readonly (readonly [number, string])[] = [
  [day, "d"],
  [hour, "h"],
  [minute, "min"],
  [second, "s"],
];

/** "340 ms", "1.2 s", "2 min 5 s", "1 h 3 min", "3 d 4 h". */
export function spokenDuration(ms: number): string {
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < minute) return `${Number((ms / second).toFixed(1))} s`;
  if (ms < hour) return pair(ms, minute, "min", second, "s");
  return ms < day ? pair(ms, hour, "h", minute, "min") : pair(ms, day, "d", hour, "h");
}

function pair(ms: number, large: number, largeWord: string, small: number, smallWord: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeWord}${rest === 0 ? "" : ` ${rest} ${smallWord}`}`;
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
