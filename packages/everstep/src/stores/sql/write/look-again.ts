/** What was read is out of date before it could be written: the whole is done again, a few times. */
import { StoreError } from "../../../model/error.ts";

const attemptsMax = 6;

export function lookAgain(): StoreError {
  return new StoreError(
    "conflict",
    "STORE_BUSY",
    "What this write is about was changed by another process again and again; try again in a moment.",
  );
}

/** `act` is a transaction that leaves nothing behind when it fails. */
export async function repeatedly<Result>(act: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (!isWorthRepeating(error)) throw error;
      if (attempt === attemptsMax) throw asConflict(error as StoreError);
    }
  }
}

/**
 * A key that is taken was free when it was looked for: whoever took it will be seen the next time. One who waited too
 * long for a lock has waited long enough.
 */
function isWorthRepeating(error: unknown): boolean {
  if (!(error instanceof StoreError)) return false;
  if (error.failure === "constraint") return true;
  return error.failure === "conflict" && error.details?.waited !== true;
}

function asConflict(error: StoreError): StoreError {
  if (error.failure === "conflict") return error;
  return new StoreError("conflict", "STORE_BUSY", lookAgain().message, { cause: error });
}

/** Again and again a key was taken that nobody was seen to take. */
export function isTakenForGood(error: unknown): boolean {
  return (
    error instanceof StoreError && error.cause instanceof StoreError && error.cause.failure === "constraint"
  );
}
