/** Versions of the key layout, and whether this code may use one newer than itself. */
import { EverstepError } from "../../model/error.ts";

/** The layout this code writes, and the oldest code that may still work with it. */
export const schemaVersion = 1;
export const oldestCompatible = 1;

export function requireCompatible(
  found: { readonly version: number; readonly oldest: number },
  place: string,
): void {
  if (found.oldest <= schemaVersion) return;
  throw new EverstepError(
    "SCHEMA_TOO_NEW",
    `${place} has schema version ${found.version}, which needs code that knows version ${found.oldest} or later; this ` +
      `everstep knows ${schemaVersion}. A newer everstep has upgraded it: update everstep here too.`,
    { details: { found: found.version, oldestCompatible: found.oldest, known: schemaVersion } },
  );
}
