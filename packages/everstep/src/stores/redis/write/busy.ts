import { StoreError } from "../../../model/error.ts";
import { placeOf } from "../server/failures.ts";
import type { Session } from "../server/session.ts";

export function busy({ settings }: Pick<Session, "settings">): StoreError {
  return new StoreError(
    "conflict",
    "STORE_BUSY",
    `${placeOf(settings)}: what this write is about was changed by others again and again, so nothing was done; try again ` +
      "in a moment.",
  );
}
