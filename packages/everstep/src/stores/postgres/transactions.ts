/** Transactions in which others write: authors' mutations in the store's own, and the store in those of its callers. */
import { EverstepError, StoreError } from "../../model/error.ts";
import { type SqlRow, text } from "../sql/rows/row.ts";
import { authorsWrites, savepoint } from "../sql/server/authors-writes.ts";
import {
  type KyselyTransaction,
  kyselyQueries,
  noTransaction,
  unfitTransaction,
} from "../sql/server/query-builders.ts";
import type { Database, Session, SqlResult, Statement } from "../sql/session.ts";
import { authorsHandle, endedTransaction, type HandleRules } from "../sql/write/authors-handle.ts";
import { MutationRefused } from "../sql/write/refusals.ts";
import type { RunMutations } from "../sql/write/write.ts";
import type { DriverResult, PostgresClient } from "./driver.ts";
import { errorCode, isServerTrouble, isUniqueViolation, storeFailure } from "./failures.ts";
import type { PostgresSettings } from "./options.ts";
import { authorsPlans, type Connection, ownPlansAgain } from "./session.ts";
import { readRows, rendering } from "./statements.ts";

export function mutations({ handle, place, pooling }: PostgresSettings): RunMutations {
  return authorsWrites<Connection, PostgresClient>({
    handle,
    isUniqueViolation,
    trouble: (error, { isLost }) =>
      isLost || isServerTrouble(error) || error instanceof StoreError
        ? storeFailure(error, place, "before")
        : undefined,
    async begin(_tx, { client }) {
      // Goes out ahead of what comes next, at no round trip of its own; where it fails, so does that.
      const send = (sql: string): void => void client.query({ text: sql }).catch(() => {});
      const plan = pooling.isPooled ? () => {} : send;
      let failure: { readonly error: unknown } | undefined;
      const query = (...given: readonly unknown[]): unknown => {
        const answer: unknown = Reflect.apply(client.query, client, given);
        if (answer instanceof Promise) {
          answer.catch((error: unknown) => {
            failure = { error };
          });
        }
        return answer;
      };
      const authors = authorsHandle(client, { ...handleRules, instead: { query } });
      send(`SAVEPOINT ${savepoint}`);
      plan(authorsPlans);
      return {
        client: authors.handle as unknown as PostgresClient,
        revoke: authors.revoke,
        /** A statement that failed spoils the whole transaction, also when the author's code caught the error. */
        async end(refusal) {
          if ((client.getTransactionStatus?.() ?? "T") === "I") throw new MutationRefused(false, ended());
          await client.query({ text: `RELEASE SAVEPOINT ${savepoint}` }).catch((error: unknown) => {
            if (errorCode(error) === noSuchSavepoint) throw new MutationRefused(false, ended());
            // Unless a savepoint of the author's own saved it.
            throw failure === undefined
              ? refusal(error)
              : new MutationRefused(isUniqueViolation(failure.error), failure.error);
          });
          plan(ownPlansAgain);
        },
      };
    },
  });
}

const handleRules: HandleRules = {
  what: "database client",
  forbidden: ["connect", "end", "release"],
  asking: ["query"],
  control:
    /^(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))\b/i,
};

const noSuchSavepoint = "3B001";

function ended(): EverstepError {
  return endedTransaction(
    ", but what the mutation wrote may have been. Leave BEGIN, COMMIT and ROLLBACK to the store.",
  );
}

/** A transaction of the caller's own, as `writeWithin` is given it: anything with `query(text, values)` like a pg client. */
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
      // A savepoint, which every write begins with, is only to be had in a transaction.
      if (errorCode(error) === "25P01")
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

function unfit(what: string): EverstepError {
  return unfitTransaction(what, "the pg client", "everstep/postgres");
}

/**
 * Whether a caller's transaction is open on the store's own database. Another one, of another tenant or of the server for
 * trials, has tables of the same names: what is written there is nowhere to be found here.
 */
export class SameDatabase {
  readonly #database: Database;
  /** A client stays where it is connected to. */
  readonly #known = new WeakSet<object>();
  #own: Place | null | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Asked once for every client. */
  async require(client: object, ask: (statement: Statement) => Promise<SqlResult>): Promise<void> {
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

/** A Kysely transaction for `create` and `sendEvent` within it. */
export function kyselyTransaction(tx: KyselyTransaction): PostgresClient {
  const ask = kyselyQueries(tx);
  return {
    async query(sql: string, parameters: readonly unknown[] = []) {
      const { rows, changes } = await ask(sql, parameters);
      return { rows, rowCount: changes ?? rows.length };
    },
  };
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
