import { EverstepError } from "../model/error.ts";

/** How often something shall happen. */
export function checkTimes(times: unknown): void {
  const isWhole = Number.isInteger(times) || times === Number.POSITIVE_INFINITY;
  if (isWhole && (times as number) >= 0) return;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `times is ${String(times)}; it must be a whole number of at least 0, or Infinity.`,
  );
}
