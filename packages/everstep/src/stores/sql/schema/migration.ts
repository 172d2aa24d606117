/** Which migrations a schema still needs, and whether this code may use a schema newer than itself. */
import { EverstepError } from "../../../model/error.ts";
import type { MigrationReport } from "../../../store/store.ts";
import { integer, type SqlRow, text } from "../rows/row.ts";

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

/** What is to be done. `kept`: the statements that write down the version a migration has led to. */
export function reportOf<Names>(
  found: SchemaVersion | null,
  pending: readonly Migration<Names>[],
  names: Names,
  kept: (migration: Migration<Names>) => readonly string[],
): MigrationReport {
  const from = found?.version ?? 0;
  const statements = pending.flatMap((migration) => [...migration.statements(names), ...kept(migration)]);
  return { from, to: pending.at(-1)?.version ?? from, statements };
}

/** Selects what `readVersion` reads. */
export function versionText(meta: string): string {
  return `SELECT m.name, m.value FROM ${meta} m WHERE m.name IN ('schema_version', 'oldest_compatible')`;
}

/** Undefined unless both are there. */
export function readVersion(rows: readonly SqlRow[]): SchemaVersion | undefined {
  const values = new Map(rows.map((row) => [text(row, "name"), integer(row, "value")]));
  const version = values.get("schema_version");
  const oldestCompatible = values.get("oldest_compatible");
  if (version === undefined || oldestCompatible === undefined) return undefined;
  return { version, oldestCompatible };
}

export function notOurs(place: string, table: string, elsewhere: string): EverstepError {
  return new EverstepError(
    "STORE_NOT_OURS",
    `${place} has a table "${table}" that everstep did not make; nothing was changed. Choose another ${elsewhere}.`,
  );
}
