/** What came back: what was asked for, or a problem as an EverstepError. */
import { type ErrorCode, EverstepError } from "../model/error.ts";
import { parseJson } from "../model/json.ts";
import { isPassingStatus, readRetryAfter } from "./retries.ts";

export type Answer<Body> = { readonly kind: "ok"; readonly body: Body } | Failure;

export interface Failure {
  readonly kind: "failed";
  readonly error: EverstepError;
  /** It may be another answer the next time. */
  readonly isPassing: boolean;
  /** The request may have been carried out all the same. */
  readonly isUncertain: boolean;
  /** When the server wants to be asked again. */
  readonly retryAfterMs: number | null;
}

/**
 * `field` is what every answer to this request has, `name[]` what is a list in it: what lacks it comes from somebody else.
 */
export async function readAnswer<Body>(
  response: Response,
  url: string,
  now: number,
  field: string | readonly string[] | null,
): Promise<Answer<Body>> {
  const failure = await readFailure(response, url, now);
  if (failure) return failure;
  const body = parse(await response.text());
  const fields = field === null ? [] : [field].flat();
  const isOurs = isObject(body) && fields.every((name) => hasField(body, name));
  return isOurs ? { kind: "ok", body: body as Body } : notUnderstood(response, url);
}

function hasField(body: Readonly<Record<string, unknown>>, name: string): boolean {
  return name.endsWith("[]") ? Array.isArray(body[name.slice(0, -2)]) : Object.hasOwn(body, name);
}

/** Null of a response that is a success. */
export async function readFailure(response: Response, url: string, now: number): Promise<Failure | null> {
  const { status } = response;
  if (response.type === "opaqueredirect" || response.redirected || (status >= 300 && status < 400)) {
    return redirected(response, url);
  }
  if (response.ok) return null;
  const retryAfterMs = readRetryAfter(response.headers.get("retry-after"), now);
  const more = retryAfterMs === null ? { status } : { status, retryAfterMs };
  const error = problemOf(parse(await response.text()), more);
  return {
    kind: "failed",
    error: error ?? notUnderstood(response, url).error,
    isPassing: isPassingStatus(status),
    isUncertain: status >= 500,
    retryAfterMs,
  };
}

/**
 * Redirects are refused: what is in the headers would go along to wherever they lead. A browser does not say where that
 * is, and a fetch of one's own may have followed already.
 */
function redirected(response: Response, url: string): Failure {
  const location = response.redirected ? response.url : response.headers.get("location");
  const whereTo = location === null || location === "" ? "elsewhere" : `to ${shown(location)}`;
  return final(
    new EverstepError(
      "ANSWER_NOT_UNDERSTOOD",
      `${url} redirects ${whereTo}. Redirects are not followed, because credentials would go along. ` +
        "If that is where the API is, use it as the url of the client.",
      { details: { url, status: response.status, ...(location ? { location } : {}) } },
    ),
  );
}

export function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

export function notUnderstood(response: Response, url: string): Failure {
  const type = response.headers.get("content-type") ?? "no content type";
  return final(
    new EverstepError(
      "ANSWER_NOT_UNDERSTOOD",
      `${url} answered ${response.status} with ${shown(type)} that is not an answer of Everstep's API. ` +
        "Is the url the full one under which the API is mounted, and does nothing else answer in its place?",
      { details: { url, status: response.status, contentType: type } },
    ),
  );
}

function final(error: EverstepError): Failure {
  return { kind: "failed", error, isPassing: false, isUncertain: false, retryAfterMs: null };
}

/** The problem in a body as the API writes it; null when it is something else. */
export function problemOf(body: unknown, more: Readonly<Record<string, unknown>>): EverstepError | null {
  const error = isObject(body) ? body.error : undefined;
  if (!isObject(error)) return null;
  const { code, message, details } = error;
  if (typeof code !== "string" || !/^[A-Z][A-Z0-9_]{0,63}$/.test(code) || typeof message !== "string")
    return null;
  return new EverstepError(code as ErrorCode, message, {
    details: { ...(isObject(details) ? details : {}), ...more },
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: nothing that moves a cursor comes into a message
  return text.slice(0, 200).replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "");
}
