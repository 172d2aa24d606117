/** Where requests go: the URL under which the API is mounted, and one encoded segment after the other. */
import { type ErrorCode, EverstepError } from "../model/error.ts";

export type Query = Readonly<Record<string, QueryValue | readonly QueryValue[]>>;
type QueryValue = string | number | boolean | Date | undefined;

/** The mount URL without a slash at its end. In a browser it may be relative to the page. */
export function readMountUrl(given: unknown): string {
  const url = parseUrl(given);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw invalidUrl(`begins with "${url.protocol}"; the API is reached by http or https`);
  }
  if (url.username !== "" || url.password !== "") {
    throw invalidUrl("holds a user or a password; pass them in headers, where no log shows them");
  }
  if (url.search !== "" || url.hash !== "") {
    throw invalidUrl("has a query or a fragment; pass the plain URL under which the API is mounted");
  }
  return url.href.replace(/\/+$/, "");
}

export function addressOf(mountUrl: string, segments: readonly string[], query: Query = {}): string {
  const path = segments.map((segment) => `/${encodeURIComponent(segment)}`).join("");
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value].flat()) if (each !== undefined) search.append(name, textOf(each));
  }
  return `${mountUrl}${path}${search.size === 0 ? "" : `?${search}`}`;
}

function textOf(value: string | number | boolean | Date): string {
  const isTime = value instanceof Date && !Number.isNaN(value.getTime());
  return isTime ? value.toISOString() : String(value);
}

export function checkWorkflowName(value: unknown): string {
  return checkSegment(value, "A workflow name", "INVALID_WORKFLOW_NAME");
}

export function checkInstanceId(value: unknown): string {
  return checkSegment(value, "An instance id", "INVALID_INSTANCE_ID");
}

export function checkTopic(value: unknown): string {
  return checkSegment(value, "A topic", "INVALID_TOPIC");
}

// Only what could lead to another path; the rest of the rules, which a server may set, are the server's.
function checkSegment(value: unknown, what: string, code: ErrorCode): string {
  if (typeof value !== "string") throw refused(code, what, "is text", value);
  if (value === "") throw refused(code, what, "has at least one character", value);
  if (value === "." || value === "..") throw refused(code, what, "is not a step in a path", value);
  if (/[/\\]/.test(value)) throw refused(code, what, "has no slashes", value);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f]|\p{Surrogate}/u.test(value)) {
    throw refused(code, what, "has no control characters and no broken characters", value);
  }
  return value;
}

function refused(code: ErrorCode, what: string, rule: string, value: unknown): EverstepError {
  const shown =
    typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : value === null ? "null" : typeof value;
  return new EverstepError(code, `${what} ${rule}: got ${shown}.`, { details: { value: shown } });
}

function parseUrl(given: unknown): URL {
  const text = given instanceof URL ? given.href : given;
  if (typeof text !== "string" || text === "") throw invalidUrl("is missing");
  const page = (globalThis as { readonly location?: { readonly href?: string } }).location?.href;
  if (URL.canParse(text, page)) return new URL(text, page);
  throw invalidUrl("is not a URL");
}

function invalidUrl(problem: string): EverstepError {
  return new EverstepError(
    "INVALID_ARGUMENT",
    `The url of createClient ${problem}. It is the full URL under which the API is mounted, for instance ` +
      '"https://example.com/api/workflows".',
  );
}
