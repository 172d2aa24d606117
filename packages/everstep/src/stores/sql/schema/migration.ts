/** Which migrations a schema still needs, and whether this code may use a schema newer than itself. */
import { EverstepError } from "../../../model/error.ts";

export interface Migration<Names> {
  /** Versions count from 1 without gaps. */
  readonly version: number;
  /** The oldest version of this library's schema whose code may still work with the result. */
  readonly oldestCompatible: number;
  readonly statements: (names: Names) => readonly string[];
}

export interface SchemaVersion {
  readonly version: number;
  readonly oldestCompatible: number;
}

/** `found` is null where there is no schema yet. Throws when the schema is too new to be used. */
export function pendingMigrations<Names>(
  migrations: readonly Migration<Names>[],
  found: SchemaVersion | null,
  place: string,
): readonly Migration<Names>[] {
  const known = migrations.at(-1)?.version ?? 0;
  if (found !== null && found.oldestCompatible > known) {
    throw new EverstepError(
      "SCHEMA_TOO_NEW",
      `${place} has schema version ${found.version}, which needs code that knows version ${found.oldestCompatible} or ` +
        `later; this everstep knows ${known}. A newer everstep has upgraded it: update everstep here too.`,
      { details: { found: found.version, oldestCompatible: found.oldestCompatible, known } },
    );
  }
  return migrations.filter((migration) => migration.version > (found?.version ?? 0));
}
