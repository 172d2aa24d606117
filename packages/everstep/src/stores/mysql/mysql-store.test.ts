import type { PoolConnection } from "mysql2/promise";
import { afterAll, beforeAll, describe, it } from "vitest";
import { mysqlPlace, mysqlUrl } from "../../../../../tests/support/mysql-place.ts";
import type { Store } from "../../store/store.ts";
import type { AuthorRows, CallerTransactions } from "../../testing/store-contract/case.ts";
import { describeStore } from "../../testing/store-contract/index.ts";

describe.skipIf(mysqlUrl === undefined)("on a server", () => {
  const place = mysqlPlace();
  beforeAll(place.create);
  afterAll(place.drop);
  const tableOf = (store: Store): string => `${place.namespaceOf(store)}_author_row`;
  let table = "";

  const rows: AuthorRows = {
    synchronous: false,
    async prepare(store) {
      table = tableOf(store);
      await place.query(
        `CREATE TABLE IF NOT EXISTS ${table} (id VARBINARY(100) PRIMARY KEY, value VARCHAR(100)) ENGINE = InnoDB`,
      );
    },
    insert: (db: PoolConnection, key, value) =>
      db.query(`INSERT INTO ${table} (id, value) VALUES (?, ?)`, [key, value]),
    async read(store, key) {
      const [found] = await place.query(`SELECT value FROM ${tableOf(store)} WHERE id = ?`, [key]);
      return found?.value as string | undefined;
    },
  };

  const transactions: CallerTransactions = {
    async run(_store, end, body) {
      const connection = await place.connect();
      try {
        await connection.query("START TRANSACTION");
        await body(connection);
        await connection.query(end);
      } finally {
        await connection.end();
      }
    },
  };

  describeStore(
    {
      name: "mysql",
      open: () => place.open(),
      reopen: (store) => place.reopen(store),
      lacks: { nudges: "MySQL has no notification channel; polling covers it" },
      rows,
      transactions,
    },
    { describe, it },
  );
});
