/** Transactions of query builders, as a server's store needs them. */
import { EverstepError } from "../../../model/error.ts";

export interface KyselyTransaction {
  // biome-ignore lint/suspicious/noExplicitAny: Kysely's own types, which nobody needs who does not use it
  withoutPlugins(): { executeQuery(query: any): Promise<any> };
}

export interface KyselyAnswer {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Undefined for a query that only reads. */
  readonly changes: number | undefined;
}

export function kyselyQueries(
  tx: KyselyTransaction,
): (sql: string, parameters?: readonly unknown[]) => Promise<KyselyAnswer> {
  if (typeof tx?.withoutPlugins !== "function") throw noTransaction("a Kysely transaction");
  // Plugins would rename the columns.
  const plain = tx.withoutPlugins();
  return async (sql, parameters = []) => {
    const query = { kind: "RawNode", sqlFragments: [sql], parameters: [] };
    const queryId = { queryId: "everstep" };
    const { rows, numAffectedRows } = await plain.executeQuery({ sql, parameters, query, queryId });
    return { rows, changes: numAffectedRows === undefined ? undefined : Number(numAffectedRows) };
  };
}

export function noTransaction(what: string): EverstepError {
  return new EverstepError("INVALID_ARGUMENT", `This is not ${what}.`);
}

/** Of `writeWithin`; `wanted` is what it takes. */
export function unfitTransaction(what: string, wanted: string, module: string): EverstepError {
  return new EverstepError(
    "INVALID_ARGUMENT",
    `The \`tx\` given ${what}. Pass ${wanted} on which your transaction is open; for Kysely and Drizzle use ` +
      `kyselyTransaction(tx) and drizzleTransaction(tx) of ${module}.`,
  );
}
