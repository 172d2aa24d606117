import type { StoredError } from "../../model/value.ts";
import { unreadable } from "./reply.ts";

export function checkStoredError(value: unknown): StoredError {
  const error = value as Partial<StoredError> | null;
  if (typeof error !== "object" || error === null || typeof error.message !== "string") {
    throw unreadable("an error", JSON.stringify(value));
  }
  return error as StoredError;
}
