/** For tests against a real server: stores in schemas of their own, and a way to be rid of them. */
import { randomBytes } from "node:crypto";
import type { Store } from "../../packages/everstep/src/store/store.ts";
import { loadDriver, type PostgresClient } from "../../packages/everstep/src/stores/postgres/driver.ts";
import type { PostgresStore } from "../../packages/everstep/src/stores/postgres/index.ts";
import { postgres } from "../../packages/everstep/src/stores/postgres/index.ts";
import type { PostgresOptions } from "../../packages/everstep/src/stores/postgres/options.ts";

/** Where the tests find a server; undefined where there is none. */
export const postgresUrl: string | undefined = process.env.EVERSTEP_POSTGRES_URL;

export interface PostgresPlace {
  /** A store on a new schema, before its first migration. */
  open(options?: Partial<PostgresOptions>): PostgresStore;
  /** Another handle on the data of a store. */
  reopen(store: Store, options?: Partial<PostgresOptions>): PostgresStore;
  namespaceOf(store: Store): string;
  /** Statements of the test's own, outside of any store. */
  query(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** A client of the test's own; release it. */
  client(): Promise<PostgresClient & { release(): void }>;
  /** Removes every schema that was opened. */
  clear(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: the driver's pool, for the test's own statements
type AnyPool = any;

export function postgresPlace(url: string = postgresUrl as string): PostgresPlace {
  const prefix = `test_${randomBytes(5).toString("hex")}`;
  const namespaces = new WeakMap<Store, string>();
  const made: string[] = [];
  let opening: Promise<AnyPool> | undefined;

  const pool = (): Promise<AnyPool> => {
    opening ??= loadDriver().then(({ Pool }) => new Pool({ connectionString: url, max: 3 }));
    return opening;
  };
  const openIn = (namespace: string, options: Partial<PostgresOptions>): PostgresStore => {
    const store = postgres({ url, clock: "caller", max: 4, namespace, ...options });
    namespaces.set(store, namespace);
    return store;
  };
  const namespaceOf = (store: Store): string => namespaces.get(store) as string;

  return {
    open(options = {}) {
      const namespace = options.namespace ?? `${prefix}_${made.length + 1}`;
      made.push(namespace);
      return openIn(namespace, options);
    },
    reopen: (store, options = {}) => openIn(namespaceOf(store), options),
    namespaceOf,
    client: async () => (await pool()).connect(),
    query: async (text, values = []) => (await (await pool()).query(text, values)).rows,
    async clear() {
      const each = await pool();
      for (const namespace of made.splice(0))
        await each.query(`DROP SCHEMA IF EXISTS "${namespace}" CASCADE`);
      await each.end();
      opening = undefined;
    },
  };
}

/** How the contract's cases write rows and begin transactions of their own. */
export function ownRows(place: PostgresPlace) {
  const rowsOf = (store: Store): string => `"${place.namespaceOf(store)}".author_row`;
  const tables: string[] = [];
  return {
    rows: {
      synchronous: false,
      async prepare(store: Store) {
        await place.query(`CREATE TABLE ${rowsOf(store)} (key text PRIMARY KEY, value text)`);
        tables.push(rowsOf(store));
      },
      insert: (db: PostgresClient, key: string, value: string) =>
        db.query(`INSERT INTO ${tables.at(-1)} (key, value) VALUES ($1, $2)`, [key, value]),
      async read(store: Store, key: string) {
        const [row] = await place.query(`SELECT value FROM ${rowsOf(store)} WHERE key = $1`, [key]);
        return row?.value as string | undefined;
      },
    },
    transactions: {
      async run(_store: Store, end: "commit" | "rollback", body: (tx: unknown) => Promise<void>) {
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
  };
}
