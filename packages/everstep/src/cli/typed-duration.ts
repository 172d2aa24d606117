/** Milliseconds, rounded up so that nothing is early; undefined for what is no duration. */
export function durationFrom(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim());
  const size = units[match?.[2]?.toLowerCase() ?? "?"];
  return match === null || size === undefined ? undefined : Math.ceil(Number(match[1]) * size);
}

const units: Readonly<Record<string, number | undefined>> = {
  "": 1,
  ms: 1,
  s: 1000,
  second: 1000,
  seconds: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  minutes: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  hours: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  days: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
  weeks: 604_800_000,
};
