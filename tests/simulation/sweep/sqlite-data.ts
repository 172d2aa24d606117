/** SQLite in memory for small worlds: one handle for all processes, because nobody else can open such a database. */
import type { DatabaseSync } from "node:sqlite";
import { sqlite } from "everstep/sqlite";
import { watchedDriver } from "../../support/sqlite-place.ts";
import type { SmallData } from "../small-world/small-data.ts";

export async function sqliteData(): Promise<SmallData> {
  const { driver, database } = watchedDriver();
  const store = sqlite({ path: ":memory:", driver });
  // Opening may take real time. From here on every call is answered within the microtasks of its moment.
  await store.migrate();
  database().exec("CREATE TABLE author_rows (key TEXT PRIMARY KEY)");
  return {
    openStore: () => store,
    insertRow: (tx, key) =>
      void (tx as DatabaseSync).prepare("INSERT INTO author_rows (key) VALUES (?)").run(key),
    rows: () =>
      database()
        .prepare("SELECT key FROM author_rows")
        .all()
        .map(({ key }) => key as string),
    close: () => store.close(),
  };
}
