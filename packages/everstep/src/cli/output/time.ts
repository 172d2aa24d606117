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

/** "2026-01-31 12:00:00 UTC": to the second, for reading. */
export function absoluteTime(iso: string): string {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)/.exec(iso);
  return match === null ? iso : `${match[1]} ${match[2]} UTC`;
}

export function durationBetween(from: string, to: string | number): number {
  return Math.max(0, (typeof to === "number" ? to : Date.parse(to)) - Date.parse(from));
}
