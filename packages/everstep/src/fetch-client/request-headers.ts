import { EverstepError } from "../model/error.ts";
import type { Runtime } from "../model/runtime.ts";

export type HeaderValues = Headers | Readonly<Record<string, string>>;

/** Fixed, or asked for before every try, for instance because a token is renewed now and then. */
export type ClientHeaders = HeaderValues | (() => HeaderValues | Promise<HeaderValues>);

/** What the caller wants sent, checked, and on top of it what the client itself says. */
export function joinHeaders(given: HeaderValues, own: Readonly<Record<string, string>>): Headers {
  const headers = new Headers();
  for (const [name, value] of entriesOf(given)) headers.set(checkName(name), checkValue(name, value));
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  return headers;
}

/** By which the server knows the tries of one call: the caller's own, or one for this call. */
export function idempotencyKeyOf(given: string | undefined, runtime: Runtime): string {
  return given === undefined ? runtime.uuid() : checkValue("idempotency-key", given);
}

function entriesOf(given: HeaderValues): readonly (readonly [string, unknown])[] {
  if (typeof given !== "object" || given === null)
    throw invalid("headers must be an object of names and values");
  const isHeaders = typeof (given as Headers).forEach === "function";
  if (!isHeaders) return Object.entries(given).filter(([, value]) => value !== undefined);
  const entries: (readonly [string, string])[] = [];
  (given as Headers).forEach((value, name) => void entries.push([name, value]));
  return entries;
}

function checkName(name: string): string {
  if (/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) return name;
  throw invalid(`${JSON.stringify(name.slice(0, 40))} is no name of a header`);
}

/** Never shows the value: it may be a secret. */
function checkValue(name: string, value: unknown): string {
  if (typeof value !== "string") throw invalid(`header "${name}" is a ${typeof value}; it must be text`);
  if (/[\r\n\0]/.test(value)) {
    throw invalid(`header "${name}" has a line break or a NUL, with which one could add headers`);
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: bytes are what a header may hold
  if (/[^\u0000-\u00ff]/.test(value))
    throw invalid(`header "${name}" has characters that no header can hold`);
  return value;
}

function invalid(problem: string): EverstepError {
  return new EverstepError("INVALID_ARGUMENT", `Headers of the client: ${problem}. Nothing was sent.`);
}
