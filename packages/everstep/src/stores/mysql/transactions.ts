/** Transactions in which others write: authors' mutations in the store's own, and the store in those of its callers. */
import { type EverstepError, StoreError } from "../../model/error.ts";
import { integer, type SqlRow, text } from "../sql/rows/row.ts";
import type { TableNames } from "../sql/schema/table.ts";
import { authorsWrites, savepoint } from "../sql/server/authors-writes.ts";
import {
  type KyselyTransaction,
  kyselyQueries,
  noTransaction,
  unfitTransaction,
} from "../sql/server/query-builders.ts";
import type { Session, SqlResult, Statement } from "../sql/session.ts";
import {
  type AuthorsHandle,
  endedTransaction,
  handleRefused,
  usedTooLate,
} from "../sql/write/authors-handle.ts";
import { MutationRefused } from "../sql/write/refusals.ts";
import type { RunMutations } from "../sql/write/write.ts";
import { loadDriver, type MysqlClient } from "./driver.ts";
import {
  endsTransaction,
  errorCode,
  isConnectionLost,
  isServerTrouble,
  isUniqueViolation,
  storeFailure,
} from "./failures.ts";
import type { MysqlSettings } from "./options.ts";
import type { Connection } from "./session.ts";
import { exchange, type Render, rendering } from "./statements.ts";

export function mutations({ handle, place, statementTimeoutMs }: MysqlSettings): RunMutations {
  return authorsWrites<Connection, MysqlClient>({
    handle,
    isUniqueViolation,
    trouble: (error, { isLost }) =>
      !isUniqueViolation(error) && (isLost || isServerTrouble(error))
        ? asStoreError(error, place)
        : undefined,
    async begin(tx, connection) {
      await tx.run([{ sql: `SAVEPOINT ${savepoint}`, values: [] }]);
      const { handle: client, revoke } = guard(connection, statementTimeoutMs);
      return {
        client,
        revoke,
        async end() {
          await tx.run([{ sql: `RELEASE SAVEPOINT ${savepoint}`, values: [] }]).catch((error: unknown) => {
            if (!(error instanceof StoreError) || error.details?.code !== "ER_SP_DOES_NOT_EXIST") throw error;
            throw new MutationRefused(false, endedTransaction(leaveCommit, error));
          });
        },
      };
    },
  });
}

const leaveCommit =
  ", but what the mutation wrote may have been. Leave COMMIT and ROLLBACK to the store, also inside procedures.";

function asStoreError(error: unknown, place: string): StoreError {
  const failure = storeFailure(error, place, "before");
  if (failure instanceof StoreError) return failure;
  return new StoreError("unavailable", "STORE_UNAVAILABLE", `${place} closed the connection.`, {
    cause: error,
  });
}

/** The connection as authors see it: they read and write rows, and the store does the rest. */
function guard(connection: Connection, timeoutMs: number): AuthorsHandle<MysqlClient> {
  let inForce = true;
  let undone: unknown;

  const ask = (method: "query" | "execute") => async (query: unknown, values?: unknown) => {
    if (!inForce) throw refused(usedTooLate);
    // The server has taken everything back: what comes now would be kept on its own.
    if (undone !== undefined) throw undone;
    const options = typeof query === "object" && query !== null ? query : { sql: query };
    refuseControl("sql" in options ? options.sql : undefined);
    try {
      return await connection.client[method]({
        timeout: timeoutMs,
        ...options,
        ...(values === undefined ? {} : { values }),
      });
    } catch (error) {
      if (isConnectionLost(error)) connection.destroy();
      if (endsTransaction(error)) undone = error;
      throw error;
    }
  };

  return {
    handle: { query: ask("query"), execute: ask("execute") },
    revoke: () => {
      inForce = false;
    },
  };
}

function refuseControl(sql: unknown): void {
  if (typeof sql !== "string") throw refused("needs a statement as text");
  const bare = bareText(sql);
  if (!isOneStatement(bare)) throw refused("takes one statement at a time");
  if (!keepsTransaction(bare)) throw refused(`must not run ${JSON.stringify(sql.trim().slice(0, 40))}`);
}

function refused(what: string): EverstepError {
  return handleRefused("connection", what);
}

/** The statement without comments and with every string and name in quotes emptied. What the server would run stays. */
export function bareText(sql: string): string {
  return sql.replace(hidden, (found) => {
    if (/^\/\*M?!\d*$/.test(found)) return " ";
    return found === "*/" ? " " : /^['"`]/.test(found) ? "''" : " ";
  });
}

export function isOneStatement(bare: string): boolean {
  return !/;\s*[^\s;]/.test(bare);
}

/**
 * Reads and writes of rows, and savepoints of one's own. Everything else may end the transaction (COMMIT, and every
 * CREATE, ALTER or TRUNCATE does so silently) or change the session that is used again afterwards.
 */
export function keepsTransaction(bare: string): boolean {
  return allowed.test(bare);
}

// A comment begins with two dashes and a space or control character: one that only JavaScript takes for a space begins none.
// In this order: strings and quoted names; comments that the server runs, begin and end; other comments.
const hidden =
  /'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*"|`(?:[^`]|``)*`|\/\*M?!\d*|\/\*[\s\S]*?\*\/|\*\/|#[^\n]*|--(?![!-~\u0080-\uffff])[^\n]*/g;

const allowed =
  /^[\s(;]*(?:select|insert|update|delete|replace|with|values|table|call|do|show|desc|describe|explain|savepoint|release\s+savepoint|rollback\s+(?:work\s+)?to|(?:create|drop)\s+temporary)\b/i;

/**
 * A transaction that the caller began, on a connection of the caller's own. Nothing about that connection is as the store
 * would have it, so what matters is asked for first: whether there is a transaction at all, and how texts are read.
 */
export function callersSession(tx: unknown, names: TableNames, settings: MysqlSettings): Session {
  if (!isClient(tx)) throw unfit("has no query(sql, values) function");
  return new CallersSession(tx, names, settings);
}

class CallersSession implements Session {
  readonly #client: Pick<MysqlClient, "query">;
  readonly #names: TableNames;
  readonly #settings: MysqlSettings;
  #render: Render | undefined;
  #maxPacketBytes = 0;
  /** The server has taken the whole transaction back: whatever comes now would be kept on its own. */
  #undone: unknown;

  constructor(client: Pick<MysqlClient, "query">, names: TableNames, settings: MysqlSettings) {
    this.#client = client;
    this.#names = names;
    this.#settings = settings;
  }

  async run(statements: readonly Statement[]): Promise<readonly SqlResult[]> {
    const render = this.#render ?? (await this.#begin());
    const results: SqlResult[] = [];
    // The caller's connection may not take several at once.
    for (const statement of statements) {
      const [result] = await this.#exchange(statement, render);
      if (result === undefined) continue;
      results.push(result);
      if (/FOR UPDATE$/.test(statement.sql)) await this.#refuseOldSnapshot(result.rows, render);
    }
    return results;
  }

  async #begin(): Promise<Render> {
    const render = rendering(await loadDriver());
    const [facts = {}] = (await this.#send(
      "SELECT @@sql_mode AS mode, @@character_set_client AS charset, @@max_allowed_packet AS packet",
    )) as readonly SqlRow[];
    if (text(facts, "mode").includes("NO_BACKSLASH_ESCAPES")) {
      throw unfit(
        "has the sql_mode NO_BACKSLASH_ESCAPES, under which texts cannot be escaped safely: leave it off",
      );
    }
    if (text(facts, "charset") !== "utf8mb4")
      throw unfit("does not speak utf8mb4: set the charset of the connection");
    this.#maxPacketBytes = integer(facts, "packet");
    await this.#requireTransaction();
    this.#render = render;
    return render;
  }

  /** A savepoint lives as long as its transaction, which without one is a single statement. */
  async #requireTransaction(): Promise<void> {
    await this.#send("SAVEPOINT everstep_join");
    try {
      await this.#client.query("RELEASE SAVEPOINT everstep_join", []);
    } catch (error) {
      if (errorCode(error)?.number !== 1305) throw this.#failed(error);
      throw unfit("has no open transaction: begin one first");
    }
  }

  /**
   * Unlike locks, plain reads see the moment of the transaction's first read, unless it is READ COMMITTED. A run that has
   * moved since then has other waits than those that would be seen, and its event would wake nobody.
   */
  async #refuseOldSnapshot(locked: readonly SqlRow[], render: Render): Promise<void> {
    const runs = locked.map((row) => integer(row, "run"));
    if (runs.length === 0) return;
    const sql = `SELECT r.id AS run, r.token, r.last_commit, r.event_seq, r.status FROM ${this.#names.run} r WHERE r.id IN (?)`;
    const [seen] = await this.#exchange({ sql, values: [runs] }, render);
    const places = new Map(seen?.rows.map((row) => [integer(row, "run"), placeOf(row)]));
    if (locked.every((row) => places.get(integer(row, "run")) === placeOf(row))) return;
    throw new StoreError(
      "conflict",
      "STORE_BUSY",
      "The transaction sees an older state than the one it would write to. Begin it with ISOLATION LEVEL READ COMMITTED, " +
        "or begin it again.",
      { details: { waited: true } },
    );
  }

  #exchange(statement: Statement, render: Render): Promise<readonly SqlResult[]> {
    const facts = { maxPacketBytes: this.#maxPacketBytes };
    return exchange({ facts, send: (sql) => this.#send(sql) }, render, [statement]);
  }

  async #send(sql: string): Promise<unknown> {
    if (this.#undone !== undefined) throw this.#undone;
    try {
      const [answer] = await this.#client.query(sql, []);
      return answer;
    } catch (error) {
      throw this.#failed(error);
    }
  }

  #failed(error: unknown): Error {
    const failure = storeFailure(error, this.#settings.place, "before");
    if (endsTransaction(error)) this.#undone = failure;
    return failure;
  }
}

/** Whatever is done to a run moves one of these. */
function placeOf(row: SqlRow): string {
  return [row.token, row.last_commit, row.event_seq, row.status].join(" ");
}

function isClient(tx: unknown): tx is Pick<MysqlClient, "query"> {
  return typeof tx === "object" && tx !== null && "query" in tx && typeof tx.query === "function";
}

function unfit(what: string): EverstepError {
  return unfitTransaction(what, "the mysql2 connection", "everstep/mysql");
}

/** A Kysely transaction for `create` and `sendEvent` within it. */
export function kyselyTransaction(tx: KyselyTransaction): Pick<MysqlClient, "query"> {
  const ask = kyselyQueries(tx);
  return {
    async query(sql: string) {
      const { rows, changes } = await ask(sql);
      return [changes === undefined ? rows : { affectedRows: changes }];
    },
  };
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
