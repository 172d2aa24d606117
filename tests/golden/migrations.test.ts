import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import * as mysql from "../../packages/everstep/src/stores/mysql/schema.ts";
import * as postgres from "../../packages/everstep/src/stores/postgres/schema.ts";
import type { Migration } from "../../packages/everstep/src/stores/sql/schema/migration.ts";
import type { TableNames } from "../../packages/everstep/src/stores/sql/schema/table.ts";
import * as sqlite from "../../packages/everstep/src/stores/sqlite/schema.ts";

/** Schemas are made from one description of all columns, which grows: what was released must stay as it was, to the letter. */
test.each<[string, readonly Migration<TableNames>[], TableNames, readonly string[]]>([
  [
    "SQLite",
    sqlite.migrations,
    sqlite.tableNames("everstep"),
    ["7f0cb9972bbfb94a", "752fcea7c7d8949c", "ef2bec7073886e99"],
  ],
  [
    "PostgreSQL",
    postgres.migrations,
    postgres.tableNames("everstep"),
    ["9494a4de48ddb8c3", "2716119ed48392da"],
  ],
  ["MySQL", mysql.migrations, mysql.tableNames("app", "everstep"), ["3ac786bc253d3068", "7db698eaeb2b5ad9"]],
])("released migrations of %s are what they were", (_name, migrations, names, hashes) => {
  const released = migrations.slice(0, hashes.length);
  expect(released.map((migration) => hashOf(migration.statements(names)))).toEqual(hashes);
});

function hashOf(statements: readonly string[]): string {
  return createHash("sha256").update(statements.join(";\n")).digest("hex").slice(0, 16);
}
