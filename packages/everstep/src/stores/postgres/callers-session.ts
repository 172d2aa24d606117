/** A transaction of the caller's own, as `writeWithin` is given it: anything with `query(text, values)` like a pg client. */
import { EverstepError } from "../../model/error.ts";
import type { Session, SqlResult, Statement } from "../sql/session.ts";
import type { DriverResult, PostgresClient } from "./driver.ts";
import { errorCode, storeFailure } from "./failures.ts";
import type { PostgresSettings } from "./options.ts";
import type { SameDatabase } from "./same-database.ts";
import { readRows, rendering } from "./statement-text.ts";

export function callersSession(tx: unknown, { place }: PostgresSettings, same: SameDatabase): Session {
  const client = tx as PostgresClient | null | undefined;
  if (typeof client?.query !== "function") throw unfit("has no query(text, values) function");
  // Nothing is prepared on a connection that belongs to others.
  const render = rendering(false);

  const one = async (statement: Statement): Promise<SqlResult> => {
    const { text, values } = render(statement);
    try {
      const { rows, rowCount } = (await client.query(text, values)) as DriverResult;
      return { rows: readRows(rows), changes: rowCount ?? 0 };
    } catch (error) {
      if (errorCode(error) === noTransaction)
        throw unfit("has no open transaction: run BEGIN first, on a client and not on a pool");
      throw storeFailure(error, place, "before");
    }
  };

  return {
    async run(statements) {
      await same.require(client, one);
      const results: SqlResult[] = [];
      for (const statement of statements) results.push(await one(statement));
      return results;
    },
  };
}

/** A savepoint, which every write begins with, is only to be had in a transaction. */
const noTransaction = "25P01";

function unfit(what: string): EverstepError {
  return new EverstepError(
    "INVALID_ARGUMENT",
    `The \`tx\` given ${what}. Pass the pg client on which your transaction is open; for Kysely and Drizzle use ` +
      "kyselyTransaction(tx) and drizzleTransaction(tx) of everstep/postgres.",
  );
}
