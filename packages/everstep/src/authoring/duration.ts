import { EverstepError } from "../model/error.ts";

/** Milliseconds as a number, or text such as "30 seconds", "1.5h", "2 weeks". */
export type Duration = number | string;

/** Longest duration that is still a duration: a time plus this much is still a date. */
const durationMsMax = 4.32e15;
/** No legal text is longer. */
const textMax = 64;

/** Whole milliseconds, rounded up so that nothing is early; INVALID_DURATION naming `what` for everything else. */
export function parseDuration(value: unknown, what: string): number {
  const ms = typeof value === "number" ? value : typeof value === "string" ? parseText(value) : Number.NaN;
  // The comparison is false for NaN, too.
  if (!(ms >= 0 && ms <= durationMsMax)) throw invalid(value, what);
  return Math.ceil(ms) + 0;
}

/** The same milliseconds when they lie within the bounds, else INVALID_DURATION saying them. */
export function checkDuration(
  ms: number,
  bounds: { readonly min?: number; readonly max?: number },
  what: string,
): number {
  const { min = 0, max = durationMsMax } = bounds;
  if (ms >= min && ms <= max) return ms;
  const rule = ms > max ? `at most ${formatDuration(max)}` : `at least ${formatDuration(min)}`;
  throw new EverstepError("INVALID_DURATION", `${what} must be ${rule}, not ${formatDuration(ms)}.`, {
    details: { ms, min, max },
  });
}

/** The largest unit that says it in a whole number: "365 days", "90 seconds", "150 ms". */
export function formatDuration(ms: number): string {
  for (const [name, size] of spokenUnits) {
    if (ms >= size && ms % size === 0) return `${ms / size} ${name}${ms === size ? "" : "s"}`;
  }
  return `${ms} ms`;
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const spokenUnits: readonly (readonly [string, number])[] = [
  ["day", day],
  ["hour", hour],
  ["minute", minute],
  ["second", second],
];

const units: ReadonlyMap<string, number> = new Map(
  (
    [
      [1, "ms millisecond milliseconds"],
      [second, "s sec secs second seconds"],
      [minute, "m min mins minute minutes"],
      [hour, "h hr hrs hour hours"],
      [day, "d day days"],
      [7 * day, "w week weeks"],
      [30 * day, "month months"],
      [365 * day, "y year years"],
    ] as const
  ).flatMap(([size, names]) => names.split(" ").map((name) => [name, size] as const)),
);

// A workflow says the same few texts at every step of every instance.
const cache = new Map<string, number>();
const cacheMax = 256;

function parseText(value: string): number {
  const known = cache.get(value);
  if (known !== undefined) return known;
  const ms = value.length > textMax ? Number.NaN : readText(value);
  if (!Number.isNaN(ms)) remember(value, ms);
  return ms;
}

function remember(value: string, ms: number): void {
  if (cache.size >= cacheMax) cache.clear();
  cache.set(value, ms);
}

function readText(value: string): number {
  const match = /^(\d+(?:\.\d+)?|\.\d+)\s*([a-z]*)$/i.exec(value.trim());
  if (match === null) return Number.NaN;
  const [, count = "", unit = ""] = match;
  const size = unit === "" ? 1 : units.get(unit.toLowerCase());
  return size === undefined ? Number.NaN : wholeWhenMeant(Number(count) * size);
}

// 1.1 hours must not become one millisecond more because 1.1 has no exact binary form.
function wholeWhenMeant(ms: number): number {
  const whole = Math.round(ms);
  return Math.abs(ms - whole) <= whole * Number.EPSILON * 2 ? whole : ms;
}

function invalid(value: unknown, what: string): EverstepError {
  const shown = show(value);
  return new EverstepError(
    "INVALID_DURATION",
    `${what} is not a duration: ${shown}. Use milliseconds (1500) or text with a unit ("30 seconds", "1.5h", "7 days").`,
    { details: { value: shown } },
  );
}

function show(value: unknown): string {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.length <= 40 ? value : `${value.slice(0, 39)}…`);
    case "number":
      return String(value);
    case "bigint":
      return "a bigint";
    case "object":
      return value === null ? "null" : "an object";
    case "undefined":
      return "undefined";
    default:
      return `a ${typeof value}`;
  }
}
