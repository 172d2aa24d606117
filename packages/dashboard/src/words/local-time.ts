/** Times in fields of type datetime-local: in the reader's zone, as short as they can be said. */

export function localTextOf(at: number | null): string {
  if (at === null || Number.isNaN(at)) return "";
  const zoned = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return zoned
    .toISOString()
    .slice(0, 23)
    .replace(/:00\.000$|\.000$/, "");
}

/** Null for nothing, or for what is no time. */
export function timeOfLocalText(text: string): number | null {
  const at = text === "" ? Number.NaN : new Date(text).getTime();
  return Number.isNaN(at) ? null : at;
}
