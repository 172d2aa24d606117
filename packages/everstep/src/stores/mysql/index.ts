/** The store contract over MySQL and MariaDB. Nothing is opened before the first call. */
import { has, lacks, type StoreCapabilities } from "../../store/capabilities.ts";
import type { MigrateOptions, MigrationReport, Ownership, StoreWarning } from "../../store/store.ts";
import { ownerFiles } from "../machine/owner-files.ts";
import { integer } from "../sql/rows/row.ts";
import { ServerStore } from "../sql/server/server-store.ts";
import type { Session } from "../sql/session.ts";
import type { Written } from "../sql/write/write.ts";
import { type Claims, claims } from "./claim.ts";
import { mysqlDialect } from "./dialect.ts";
import { type MysqlOptions, type MysqlSettings, readOptions } from "./options.ts";
import { migrateSchema, tableNames } from "./schema.ts";
import { readServerSettings } from "./server-settings.ts";
import { MysqlDatabase } from "./session.ts";
import { callersSession, mutations } from "./transactions.ts";

export type { KyselyTransaction } from "../sql/server/query-builders.ts";
export type { MysqlClient } from "./driver.ts";
export type { MysqlOptions } from "./options.ts";
export type { DrizzleTransaction, KyselyPool } from "./transactions.ts";
export { asPool, drizzleTransaction, kyselyTransaction } from "./transactions.ts";

/** Keeps workflows in a MySQL (8.0 or later) or MariaDB (10.6 or later) database. Nothing is opened before the first call. */
export function mysql(url: string | MysqlOptions): MysqlStore {
  return new MysqlStore(readOptions(url));
}

export class MysqlStore extends ServerStore {
  readonly name = "mysql";
  readonly ownership: Ownership = ownerFiles({ listRunners: (limit) => this.listRunners(limit) });
  readonly serverTime?: () => Promise<number>;
  readonly #settings: MysqlSettings;
  readonly #database: MysqlDatabase;
  readonly #claims: Claims;

  constructor(settings: MysqlSettings) {
    const database = new MysqlDatabase(settings);
    const names = tableNames(settings.connect.database, settings.namespace);
    const claiming = claims(names);
    super({
      capabilities,
      database,
      dialect: mysqlDialect(names, claiming),
      runMutations: mutations(settings),
      sessionOf: (tx) => callersSession(tx, names, settings),
    });
    this.#settings = settings;
    this.#database = database;
    this.#claims = claiming;
    if (settings.clock === "store") this.serverTime = () => readTime(database);
  }

  /** There is no way to tell others; this process's own claims come before they poll. */
  protected override async tellOthers({ news }: Written, within?: Session): Promise<void> {
    if (news.due && within === undefined) this.#claims.expectWork();
  }

  migrate(options: MigrateOptions = {}): Promise<MigrationReport> {
    return migrateSchema(this.#database, this.#settings, options);
  }

  async warnings(): Promise<readonly StoreWarning[]> {
    const ask = async (sql: string, values: readonly unknown[] = []) =>
      (await this.#database.run([{ sql, values }]))[0]?.rows ?? [];
    return (await readServerSettings(ask)).warnings;
  }
}

async function readTime(database: MysqlDatabase): Promise<number> {
  const sql = "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000 AS now";
  const [result] = await database.run([{ sql, values: [] }]);
  return integer(result?.rows[0] ?? {}, "now");
}

const capabilities: StoreCapabilities = {
  durable: has,
  shared: has,
  mutations: has,
  transactions: has,
  nudges: lacks("MySQL has no notification channel; other processes' work is found by polling"),
  ownership: has,
};
