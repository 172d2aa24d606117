import { MysqlStore } from "./mysql-store.ts";
import { type MysqlOptions, readOptions } from "./options.ts";

/** Keeps workflows in a MySQL (8.0 or later) or MariaDB (10.6 or later) database. Nothing is opened before the first call. */
export function mysql(url: string | MysqlOptions): MysqlStore {
  return new MysqlStore(readOptions(url));
}

export type { DrizzleTransaction, KyselyPool, KyselyTransaction } from "./adapters.ts";
export { asPool, drizzleTransaction, kyselyTransaction } from "./adapters.ts";
export type { MysqlClient } from "./driver.ts";
export type { MysqlStore } from "./mysql-store.ts";
export type { MysqlOptions } from "./options.ts";
