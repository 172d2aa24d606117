import { afterAll, describe, it } from "vitest";
import type { Store } from "../../store/store.ts";
import { describeStore } from "../../testing/store-contract/index.ts";
import type { PostgresClient } from "./driver.ts";
import { postgresPlace, postgresUrl } from "./test-support.ts";

describe.skipIf(postgresUrl === undefined)("PostgreSQL (set EVERSTEP_POSTGRES_URL to run these)", () => {
  const place = postgresPlace();
  afterAll(() => place.clear(), 60_000);
  const rowsOf = (store: Store): string => `"${place.namespaceOf(store)}".author_row`;

  describeStore(
    {
      name: "postgres",
      open: () => place.open(),
      reopen: (store) => place.reopen(store),
      rows: {
        synchronous: false,
        async prepare(store) {
          await place.query(`CREATE TABLE ${rowsOf(store)} (key text PRIMARY KEY, value text)`);
          tables.push(rowsOf(store));
        },
        insert: (db: PostgresClient, key, value) =>
          db.query(`INSERT INTO ${tables.at(-1)} (key, value) VALUES ($1, $2)`, [key, value]),
        async read(store, key) {
          const [row] = await place.query(`SELECT value FROM ${rowsOf(store)} WHERE key = $1`, [key]);
          return row?.value as string | undefined;
        },
      },
      transactions: {
        async run(_store, end, body) {
          const client = await place.client();
          try {
            await client.query("BEGIN");
            await body(client);
            await client.query(end);
          } finally {
            client.release();
          }
        },
      },
    },
    { describe, it },
  );
  const tables: string[] = [];
});
