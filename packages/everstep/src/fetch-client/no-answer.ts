import { EverstepError } from "../model/error.ts";
import type { Failure } from "./answer.ts";
import type { Outgoing } from "./outgoing.ts";

/** A try that nobody answered: whether it was carried out cannot be known. */
export function noAnswer(problem: unknown): Failure {
  const error = new EverstepError("CONNECTION_FAILED", reasonOf(problem), { cause: problem });
  return { kind: "failed", error, isPassing: true, isUncertain: true, retryAfterMs: null };
}

/** After the last try: what a person needs to know of all of them. */
export function afterTries(
  error: EverstepError,
  { url, method }: Outgoing,
  tries: number,
  about: Readonly<Record<string, unknown>> = {},
): EverstepError {
  if (error.code !== "CONNECTION_FAILED") return error;
  const times = tries === 1 ? "once" : `${tries} times`;
  const doubt =
    method === "GET" ? "" : " It may have been carried out all the same: look before you send it again.";
  return new EverstepError(
    "CONNECTION_FAILED",
    `No answer to ${method} ${url}, tried ${times}: ${error.message}. ` +
      `Is the server running, and is the url right?${doubt}`,
    { cause: error.cause, details: { ...about, url, tries } },
  );
}

/** The innermost cause says most: "fetch failed" says nothing, "connect ECONNREFUSED 127.0.0.1:4610" does. */
function reasonOf(problem: unknown): string {
  let reason = "the connection failed";
  for (let at: unknown = problem, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const code = (at as { readonly code?: unknown }).code;
    if (typeof code === "string" && isOfTls.test(code)) return tlsReason(code);
    reason = at.message || (typeof code === "string" ? code : reason);
  }
  return reason;
}

/** What OpenSSL says of it names places in its own sources. */
const isOfTls = /^(EPROTO$|ERR_SSL_)/;
const isOtherProtocol =
  /^EPROTO$|WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNKNOWN_PROTOCOL|RECORD_LAYER/;

function tlsReason(code: string): string {
  return isOtherProtocol.test(code)
    ? "what answers there does not speak TLS, so its url may begin with http:// instead of https://"
    : `TLS was not agreed on (${code})`;
}
