/** All rows of an SQLite database as they are now, to go back to. */
import type { SqlValue } from "../../../packages/everstep/src/stores/sql/rows/row.ts";
import type { SqliteDatabase } from "../../../packages/everstep/src/stores/sqlite/driver.ts";

export function markTables(sqlite: SqliteDatabase): () => void {
  const names = sqlite
    .prepareTuples("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
    .map(([name]) => `"${name}"`);
  const tables = names.map((name) => ({
    name,
    rows: sqlite.prepareTuples(`SELECT * FROM ${name}`).all() as readonly SqlValue[][],
  }));
  return () => {
    sqlite.exec("BEGIN IMMEDIATE");
    for (const { name, rows } of tables) {
      sqlite.exec(`DELETE FROM ${name}`);
      const [first] = rows;
      if (first === undefined) continue;
      const insert = sqlite.prepare(`INSERT INTO ${name} VALUES (${first.map(() => "?").join(", ")})`);
      for (const row of rows) insert.run(...row);
    }
    sqlite.exec("COMMIT");
  };
}
