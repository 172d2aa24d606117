import { EverstepError } from "../model/error.ts";

/** For a value the walk gives up on, whose bytes nobody has counted. */
export function tooLarge(what: string, cause?: unknown): EverstepError {
  return new EverstepError("PAYLOAD_TOO_LARGE", `${what} is far too large to keep. ${keepElsewhere}`, {
    cause,
  });
}

/** For a value that was written, and takes more bytes than its place allows. */
export function tooManyBytes(what: string, bytes: number, maxBytes: number): EverstepError {
  return new EverstepError(
    "PAYLOAD_TOO_LARGE",
    `${what} takes ${bytes} bytes, and at most ${maxBytes} are allowed. ${keepElsewhere}`,
    { details: { bytes, maxBytes } },
  );
}

/** For a value that cannot be kept: `path` leads from `what` to the place that is to blame. */
export function notSerializable(
  what: string,
  path: readonly (string | number)[],
  kind: string,
  problem: string,
  cause: unknown,
): EverstepError {
  const place = pathText(path);
  return new EverstepError("VALUE_NOT_SERIALIZABLE", `${what}${place} ${problem}.`, {
    cause,
    details: { path: place.replace(/^\./, ""), kind },
  });
}

/** For stored text that `encodeValue` did not write. */
export function unreadable(problem: string, cause?: unknown): EverstepError {
  return new EverstepError(
    "HISTORY_UNREADABLE",
    `A stored value cannot be read: ${problem}. It was changed by hand, damaged, or written by a newer version.`,
    { cause },
  );
}

/** What engines throw when a text outgrows the longest string they can make. */
export function isTooLong(error: unknown): boolean {
  return error instanceof RangeError && /string length|memory/i.test(error.message);
}

/** What is said of an error thrown while a value was read. A getter or proxy may throw anything. */
export function messageOf(error: unknown): string {
  try {
    return shorten(error instanceof Error ? String(error.message) : String(error), 200);
  } catch {
    return "no reason given";
  }
}

export function shorten(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

const keepElsewhere =
  "Keep large data elsewhere (a file, an object store, a table) and pass a reference to it.";

function pathText(path: readonly (string | number)[]): string {
  const text = path.map(segmentText).join("");
  return text.length <= 200 ? text : `${text.slice(0, 100)}…${text.slice(-99)}`;
}

function segmentText(segment: string | number): string {
  if (typeof segment === "number") return `[${segment}]`;
  if (segment.length > 80) return `[${JSON.stringify(shorten(segment, 80))}]`;
  return /^[A-Za-z_$][\w$]*$/.test(segment) ? `.${segment}` : `[${JSON.stringify(segment)}]`;
}
