import type { Runtime } from "../model/runtime.ts";
import { checkValue } from "./request-headers.ts";

/** By which the server knows the tries of one call: the caller's own, or one for this call. */
export function idempotencyKeyOf(given: string | undefined, runtime: Runtime): string {
  return given === undefined ? runtime.uuid() : checkValue("idempotency-key", given);
}
