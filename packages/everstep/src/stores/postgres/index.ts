import { type PostgresOptions, readOptions } from "./options.ts";
import { PostgresStore } from "./postgres-store.ts";

/** Keeps workflows in a schema of a PostgreSQL database. Nothing is connected before the first call. */
export function postgres(url: string | PostgresOptions): PostgresStore {
  return new PostgresStore(readOptions(url));
}

export type { ClientPool, KyselyTransaction, LentClient } from "./adapters.ts";
export { asPool, drizzleTransaction, kyselyTransaction } from "./adapters.ts";
export type { PostgresClient } from "./driver.ts";
export type { PostgresOptions } from "./options.ts";
export type { PostgresStore } from "./postgres-store.ts";
