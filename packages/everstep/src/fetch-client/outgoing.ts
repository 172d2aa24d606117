/** A call as a request that can be sent any number of times. */
import { EverstepError } from "../model/error.ts";
import { addressOf, type Query } from "./address.ts";

export interface Call {
  readonly segments: readonly string[];
  readonly query?: Query;
  /** Makes it a POST. */
  readonly body?: unknown;
  readonly isDelete?: boolean;
  /** The same for all tries of a call, so that it takes effect once. */
  readonly idempotencyKey?: string;
  /** What every answer to it has. */
  readonly field?: string | readonly string[];
  readonly signal?: AbortSignal | undefined;
  /** The server may take minutes for it. */
  readonly isLong?: boolean;
  /** Once it may have been carried out, it is not tried again. */
  readonly isOnce?: boolean;
  /** Told before it is tried again although it may have been carried out. */
  readonly onUncertain?: () => void;
  /** Goes into the details of the error when nobody answers. */
  readonly about?: Readonly<Record<string, unknown>>;
}

export interface Outgoing {
  readonly url: string;
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export function outgoingOf(call: Call, mountUrl: string, headers: Outgoing["headers"]): Outgoing {
  const url = addressOf(mountUrl, call.segments, call.query);
  if (call.body === undefined) return { url, method: call.isDelete ? "DELETE" : "GET", headers };
  const key = call.idempotencyKey;
  const more = {
    "content-type": "application/json",
    ...(key === undefined ? {} : { "idempotency-key": key }),
  };
  return { url, method: "POST", headers: { ...headers, ...more }, body: serialize(call.body) };
}

function serialize(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (problem) {
    throw new EverstepError(
      "VALUE_NOT_SERIALIZABLE",
      `What was to be sent is no JSON: ${problem instanceof Error ? problem.message : String(problem)}. ` +
        "Over HTTP only plain JSON values can be sent.",
      { cause: problem },
    );
  }
}
