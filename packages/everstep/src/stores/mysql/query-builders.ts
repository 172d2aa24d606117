/** Between the store and query builders, all described by their shapes: nobody needs one who does not use it. */
import type { MysqlClient } from "./driver.ts";

/**
 * The transaction's connection as the pool that Kysely's MysqlDialect wants:
 * `handle: (client) => new Kysely({ dialect: new MysqlDialect({ pool: asPool(client) }) })`.
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

/** A Kysely transaction as `writeWithin` takes it. */
export function kyselyTransaction(tx: KyselyTransaction): Pick<MysqlClient, "query"> {
  const plain = tx.withoutPlugins();
  return {
    async query(sql: string) {
      const query = { kind: "RawNode", sqlFragments: [sql], parameters: [] };
      const { rows, numAffectedRows } = await plain.executeQuery({
        sql,
        query,
        parameters: [],
        queryId: { queryId: "everstep" },
      });
      return [numAffectedRows === undefined ? rows : { affectedRows: Number(numAffectedRows) }];
    },
  };
}

export interface KyselyTransaction {
  // biome-ignore lint/suspicious/noExplicitAny: another object of the same kind
  withoutPlugins(): any;
}

/** A transaction of Drizzle (drizzle-orm/mysql2) as `writeWithin` takes it. */
export function drizzleTransaction(tx: DrizzleTransaction): Pick<MysqlClient, "query"> {
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
