import { EverstepError, StoreError } from "../model/error.ts";

/**
 * Part of a batch was applied when the rest failed, for whatever reason: whoever repeats the whole is answered rightly, and has to
 * know that a refusal may be its own doing.
 */
export function afterPart(error: unknown): StoreError {
  if (error instanceof StoreError && error.failure === "ambiguous") return error;
  const code = error instanceof EverstepError ? error.code : "STORE_FAILED";
  const said = error instanceof Error ? error.message : String(error);
  const message = `${said} Some requests of the same write had been applied before.`;
  return new StoreError("ambiguous", code, message, { cause: error });
}
