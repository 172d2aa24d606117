/** Transactions and clients of query builders, as this store needs them and the other way round. */
import { EverstepError } from "../../model/error.ts";
import type { PostgresClient } from "./driver.ts";

/** A Kysely transaction for `create` and `sendEvent` within it. */
export function kyselyTransaction(tx: KyselyTransaction): PostgresClient {
  if (typeof tx?.withoutPlugins !== "function") throw noTransaction("a Kysely transaction");
  // Plugins would rename the columns.
  const plain = tx.withoutPlugins();
  return {
    async query(sql: string, parameters: readonly unknown[] = []) {
      const query = { kind: "RawNode", sqlFragments: [sql], parameters: [] };
      const { rows, numAffectedRows } = await plain.executeQuery({
        sql,
        parameters,
        query,
        queryId: { queryId: "everstep" },
      });
      return { rows, rowCount: numAffectedRows === undefined ? rows.length : Number(numAffectedRows) };
    },
  };
}

export interface KyselyTransaction {
  // biome-ignore lint/suspicious/noExplicitAny: Kysely's own types, which nobody needs who does not use it
  withoutPlugins(): { executeQuery(query: any): Promise<any> };
}

/** A Drizzle transaction (of its node-postgres driver) for `create` and `sendEvent` within it. */
export function drizzleTransaction(tx: object): PostgresClient {
  const { session } = (tx ?? {}) as { readonly session?: { readonly client?: PostgresClient } };
  const client = session?.client;
  if (typeof client?.query !== "function")
    throw noTransaction("a transaction of Drizzle's node-postgres driver");
  return { query: (sql: string, values: readonly unknown[] = []) => client.query(sql, values) };
}

/**
 * A client as a pool of one, which query builders ask for. For a handle with Kysely:
 * `handle: (client) => new Kysely<DB>({ dialect: new PostgresDialect({ pool: asPool(client) }) })`.
 * Drizzle takes the client as it is: `handle: (client) => drizzle({ client })`.
 */
export function asPool(client: PostgresClient): ClientPool {
  const lent: LentClient = {
    query: (...given: readonly unknown[]) => Reflect.apply(client.query, client, given),
    release: () => {},
  };
  return { options: {}, connect: async () => lent, end: async () => {} };
}

export interface ClientPool {
  readonly options: object;
  connect(): Promise<LentClient>;
  end(): Promise<void>;
}

export interface LentClient {
  // biome-ignore lint/suspicious/noExplicitAny: the driver's own queries and results, which have many shapes
  query(...given: readonly any[]): any;
  release(): void;
}

function noTransaction(what: string): EverstepError {
  return new EverstepError("INVALID_ARGUMENT", `This is not ${what}.`);
}
