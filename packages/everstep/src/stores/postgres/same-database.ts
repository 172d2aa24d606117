/**
 * Whether a caller's transaction is open on the store's own database. Another one, of another tenant or of the server for
 * trials, has tables of the same names: what is written there is nowhere to be found here.
 */
import { EverstepError, StoreError } from "../../model/error.ts";
import { type SqlRow, text } from "../sql/rows/row.ts";
import type { Database, SqlResult, Statement } from "../sql/session.ts";

export type Ask = (statement: Statement) => Promise<SqlResult>;

export class SameDatabase {
  readonly #database: Database;
  /** A client stays where it is connected to. */
  readonly #known = new WeakSet<object>();
  #own: Place | null | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Asked once for every client. */
  async require(client: object, ask: Ask): Promise<void> {
    if (this.#known.has(client)) return;
    if (this.#own === undefined) await this.#lookAgain();
    if (this.#own === null) return;
    const given = placeOf(await ask(whichOne));
    // The server may have been started again since.
    if (!isSame(given, this.#own)) await this.#lookAgain();
    if (!isSame(given, this.#own)) throw another(given, this.#own);
    this.#known.add(client);
  }

  async #lookAgain(): Promise<void> {
    try {
      const [answer] = await this.#database.run([whichOne]);
      this.#own = answer === undefined ? null : placeOf(answer);
    } catch (error) {
      if (error instanceof StoreError && error.retryable) throw error;
      // A server that does not tell: nothing can be compared.
      this.#own = null;
    }
  }
}

interface Place {
  readonly database: string;
  /** When the server was started, to the microsecond: copies of a server have the same identifier, but not this. */
  readonly started: string;
}

const whichOne: Statement = {
  sql:
    "SELECT current_database()::text AS database, " +
    "floor(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint::text AS started",
  values: [],
};

function placeOf({ rows }: SqlResult): Place {
  const row: SqlRow = rows[0] ?? {};
  return { database: text(row, "database"), started: text(row, "started") };
}

function isSame(given: Place, own: Place | null | undefined): boolean {
  return !own || (given.database === own.database && given.started === own.started);
}

function another(given: Place, own: Place | null | undefined): EverstepError {
  const where =
    given.database === own?.database
      ? "a database of the same name on another server"
      : `the database ${JSON.stringify(given.database)}`;
  return new EverstepError(
    "INVALID_ARGUMENT",
    `The \`tx\` given is open on ${where}, and not on the store's own. Begin it on a client of the store's database.`,
  );
}
