/**
 * A transaction that the caller began, on a connection of the caller's own. Nothing about that connection is as the store
 * would have it, so what matters is asked for first: whether there is a transaction at all, and how texts are read.
 */
import { EverstepError, StoreError } from "../../model/error.ts";
import { integer, type SqlRow, text } from "../sql/rows/row.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { Session, SqlResult, Statement } from "../sql/session.ts";
import { loadDriver, type MysqlClient } from "./driver.ts";
import { exchange } from "./exchange.ts";
import { errorCode, storeFailure } from "./failures.ts";
import { type Render, rendering } from "./literal.ts";
import type { MysqlSettings } from "./options.ts";

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
    const facts = await this.#ask(
      "SELECT @@sql_mode AS mode, @@character_set_client AS charset, @@max_allowed_packet AS packet",
    );
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

  async #ask(sql: string): Promise<SqlRow> {
    const [row] = (await this.#send(sql)) as readonly SqlRow[];
    return row ?? {};
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
    const number = errorCode(error)?.number;
    if (number === 1213 || number === 1020) this.#undone = failure;
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
  return new EverstepError(
    "INVALID_ARGUMENT",
    `The \`tx\` given ${what}. Pass the mysql2 connection on which your transaction is open; for Kysely and Drizzle use ` +
      "kyselyTransaction(tx) and drizzleTransaction(tx) of everstep/mysql.",
  );
}
