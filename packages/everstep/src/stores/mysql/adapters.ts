/** Transactions and connections of query builders, as this store needs them and the other way round. */
import { EverstepError } from "../../model/error.ts";
import type { MysqlClient } from "./driver.ts";

/**
 * The transaction's connection as a pool of one, which Kysely asks for:
 * `handle: (client) => new Kysely<DB>({ dialect: new MysqlDialect({ pool: asPool(client) }) })`.
 * Drizzle takes the connection as it is: `handle: (client) => drizzle({ client })`.
 */
export function asPool(client: MysqlClient): KyselyPool {
  const connection: KyselyConnection = {
    query(sql, parameters, callback) {
      client.query(sql, parameters).then(
        ([result]) => callback?.(null, result),
        (error) => callback?.(error, undefined),
      );
      // Streaming would need the connection itself.
      return {
        stream() {
          throw new Error(
            "Rows of a transaction that belongs to a store cannot be streamed; read them at once.",
          );
        },
      };
    },
    // There is one connection, and it stays with the store.
    release() {},
  };
  return {
    getConnection: (callback) => callback(null, connection),
    end: (callback) => callback(null),
  };
}

export interface KyselyPool {
  // biome-ignore lint/suspicious/noExplicitAny: the driver's own errors and connections
  getConnection(callback: (error: any, connection: any) => void): void;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  end(callback: (error: any) => void): void;
}

interface KyselyConnection {
  query(
    sql: string,
    parameters: readonly unknown[],
    callback?: (error: unknown, result: unknown) => void,
  ): { stream(): never };
  release(): void;
}

/** A Kysely transaction for `create` and `sendEvent` within it. */
export function kyselyTransaction(tx: KyselyTransaction): Pick<MysqlClient, "query"> {
  if (typeof tx?.withoutPlugins !== "function") throw noTransaction("a Kysely transaction");
  // Plugins would rename the columns.
  const plain = tx.withoutPlugins();
  return {
    async query(sql: string) {
      const query = { kind: "RawNode", sqlFragments: [sql], parameters: [] };
      const queryId = { queryId: "everstep" };
      const { rows, numAffectedRows } = await plain.executeQuery({ sql, query, parameters: [], queryId });
      return [numAffectedRows === undefined ? rows : { affectedRows: Number(numAffectedRows) }];
    },
  };
}

export interface KyselyTransaction {
  // biome-ignore lint/suspicious/noExplicitAny: Kysely's own types, which nobody needs who does not use it
  withoutPlugins(): { executeQuery(query: any): Promise<any> };
}

/** A transaction of Drizzle (of its mysql2 driver) for `create` and `sendEvent` within it. */
export function drizzleTransaction(tx: DrizzleTransaction): Pick<MysqlClient, "query"> {
  if (typeof tx?.execute !== "function") throw noTransaction("a transaction of Drizzle's mysql2 driver");
  return {
    async query(sql: string) {
      try {
        return await tx.execute(sql);
      } catch (error) {
        // Its own error shows the whole statement, and with it every payload.
        throw (error as Error).cause ?? error;
      }
    },
  };
}

export interface DrizzleTransaction {
  // biome-ignore lint/suspicious/noExplicitAny: a statement as text or as Drizzle's own object, and the driver's results
  execute(query: any): Promise<any>;
}

function noTransaction(what: string): EverstepError {
  return new EverstepError("INVALID_ARGUMENT", `This is not ${what}.`);
}
