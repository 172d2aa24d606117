/** A transaction of the caller's own, as `writeWithin` is given it: anything with `query(text, values)` like a pg client. */
import { EverstepError } from "../../model/error.ts";
import type { Session, SqlResult, Statement } from "../sql/session.ts";
import type { DriverResult, PostgresClient } from "./driver.ts";
import { storeFailure } from "./failures.ts";
import type { PostgresSettings } from "./options.ts";
import { readRows, rendering } from "./statement-text.ts";

export function callersSession(tx: unknown, { place }: PostgresSettings): Session {
  const client = tx as PostgresClient | null | undefined;
  if (typeof client?.query !== "function") {
    throw new EverstepError(
      "INVALID_ARGUMENT",
      "The transaction must have a query(text, values) function, like a client of pg. For Kysely and Drizzle use " +
        "kyselyTransaction(tx) and drizzleTransaction(tx) of everstep/postgres.",
    );
  }
  // Nothing is prepared on a connection that belongs to others.
  const render = rendering(false);

  const one = async (statement: Statement): Promise<SqlResult> => {
    const { text, values } = render(statement);
    try {
      const { rows, rowCount } = (await client.query(text, values)) as DriverResult;
      return { rows: readRows(rows), changes: rowCount ?? 0 };
    } catch (error) {
      throw storeFailure(error, place, "before");
    }
  };

  return {
    async run(statements) {
      const results: SqlResult[] = [];
      for (const statement of statements) results.push(await one(statement));
      return results;
    },
  };
}
