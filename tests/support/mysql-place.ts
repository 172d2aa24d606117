/** For the tests of this store: a database of one's own on the server that EVERSTEP_MYSQL_URL names. */
import { randomBytes } from "node:crypto";
import type { Store } from "../../packages/everstep/src/store/store.ts";
import type { MysqlStore } from "../../packages/everstep/src/stores/mysql/index.ts";
import { mysql } from "../../packages/everstep/src/stores/mysql/index.ts";
import type { MysqlOptions } from "../../packages/everstep/src/stores/mysql/options.ts";
import { tables } from "../../packages/everstep/src/stores/sql/schema/table.ts";

/** Where the tests find a server; undefined where there is none. */
export const mysqlUrl: string | undefined = process.env.EVERSTEP_MYSQL_URL;
if (mysqlUrl === undefined)
  console.warn("EVERSTEP_MYSQL_URL is not set: the MySQL store is not tested on a server.");

export interface MysqlPlace {
  readonly database: string;
  /** Before the tests of a file. */
  create(): Promise<void>;
  /** Behind them: removes the database and all that was opened in it. */
  drop(): Promise<void>;
  /** A store on empty tables of its own. */
  open(options?: Partial<MysqlOptions>): Promise<MysqlStore>;
  /** Another handle on the same tables. */
  reopen(store: Store, options?: Partial<MysqlOptions>): MysqlStore;
  namespaceOf(store: Store): string;
  /** Statements of the test's own, outside of any store. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** A connection of the test's own; end it. */
  connect(options?: object): Promise<TestConnection>;
  /** Where a store or another client finds the database. */
  readonly url: string;
}

export type TestConnection = Awaited<ReturnType<typeof connectTo>>;

export function mysqlPlace(server: string = mysqlUrl ?? "mysql://localhost"): MysqlPlace {
  const database = `everstep_test_${randomBytes(5).toString("hex")}`;
  const place = new URL(server);
  place.pathname = `/${database}`;
  const url = place.href;
  const tableSets = new TableSets();
  let own: TestConnection | undefined;

  const connection = (): TestConnection => {
    if (own === undefined) throw new Error("The database is there only between create() and drop().");
    return own;
  };
  const openIn = (namespace: string, options: Partial<MysqlOptions>): MysqlStore =>
    tableSets.note(mysql({ url, max: 4, clock: "caller", ...options, namespace }), namespace);

  return {
    database,
    url,
    async create() {
      own = await connectTo(server, {});
      await own.query(`CREATE DATABASE ${database}`);
      await own.query(`USE ${database}`);
    },
    async drop() {
      await own?.query(`DROP DATABASE ${database}`);
      await own?.end();
      own = undefined;
    },
    open: async (options = {}) => openIn(options.namespace ?? (await tableSets.take(connection())), options),
    reopen: (store, options = {}) => openIn(tableSets.namespaceOf(store), options),
    namespaceOf: (store) => tableSets.namespaceOf(store),
    async query(sql, values = []) {
      const [rows] = await connection().query(sql, [...values]);
      return rows as unknown as readonly Record<string, unknown>[];
    },
    connect: (options = {}) => connectTo(url, options),
  };
}

async function connectTo(uri: string, options: object) {
  const { createConnection } = await import("mysql2/promise");
  return createConnection({ uri, multipleStatements: true, ...options });
}

/**
 * Making tables takes long, emptying them does not: they are used again when every handle on them is closed, though not
 * at once, because a test may open them again.
 */
class TableSets {
  readonly #free: string[] = [];
  readonly #handles = new Map<string, Set<MysqlStore>>();
  readonly #namespaces = new WeakMap<Store, string>();
  #made = 0;

  async take(admin: TestConnection): Promise<string> {
    const free = this.#free.length > 2 ? this.#free.shift() : undefined;
    if (free === undefined) {
      this.#made += 1;
      return `t${this.#made}`;
    }
    await empty(admin, free);
    return free;
  }

  namespaceOf(store: Store): string {
    return this.#namespaces.get(store) as string;
  }

  note(store: MysqlStore, namespace: string): MysqlStore {
    const handles = this.#handles.get(namespace) ?? new Set();
    this.#handles.set(namespace, handles.add(store));
    this.#namespaces.set(store, namespace);
    const free = this.#free.indexOf(namespace);
    if (free >= 0) this.#free.splice(free, 1);
    const close = store.close.bind(store);
    store.close = async () => {
      await close();
      const isLast = handles.delete(store) && handles.size === 0;
      if (isLast && /^t\d+$/.test(namespace)) this.#free.push(namespace);
    };
    return store;
  }
}

async function empty(admin: TestConnection, namespace: string): Promise<void> {
  const [found] = await admin.query("SHOW TABLES LIKE ?", [`${namespace}\\_%`]);
  const there = (found as object[]).map((row) => String(Object.values(row)[0]));
  const ours = tables.map((table) => `${namespace}_${table}`);
  for (const name of there) if (!ours.includes(name)) await admin.query(`DROP TABLE \`${name}\``);
  const emptied = there.filter((name) => ours.includes(name)).map((name) => `DELETE FROM \`${name}\``);
  if (emptied.length > 0) await admin.query(emptied.join("; "));
}
