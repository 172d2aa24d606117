import { StoreError } from "../model/error.ts";

/** Part of a batch was applied when the rest failed: whoever repeats the whole is answered rightly. */
export function afterPart(error: unknown): unknown {
  if (!(error instanceof StoreError) || error.failure === "ambiguous") return error;
  const message = `${error.message} Some requests of the same write had been applied before.`;
  return new StoreError("ambiguous", error.code, message, { cause: error });
}
