/**
 * The database as the shared statements see it. Several statements are one text and one round trip. The server stops at
 * the first that fails and leaves the transaction open, so every failure is followed by ROLLBACK, and a connection that
 * does not answer it is thrown away.
 */
import { EverstepError, StoreError } from "../../model/error.ts";
import { untilAborted } from "../../store/until-aborted.ts";
import {
  type Database,
  forRenewal,
  renewalConnectionsMax,
  type Session,
  type SqlResult,
  type Statement,
  type Transaction,
  type Use,
} from "../sql/session.ts";
import { type Connection, type Connections, connections } from "./connections.ts";
import { type Driver, loadDriver } from "./driver.ts";
import { exchange } from "./exchange.ts";
import { closedFailure, isConnectionLost, isOutOfCluster, isUnanswered, storeFailure } from "./failures.ts";
import { type Render, rendering } from "./literal.ts";
import type { MysqlSettings } from "./options.ts";

export class MysqlDatabase implements Database {
  readonly #settings: MysqlSettings;
  #opening: Promise<Open> | undefined;
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(settings: MysqlSettings) {
    this.#settings = settings;
  }

  run(statements: readonly Statement[], use: Use = "work"): Promise<readonly SqlResult[]> {
    const sent = statements.every(isRead) ? "before" : "after";
    return this.#do(async (open) => {
      for (;;) {
        const connection = await this.#take(open, use);
        try {
          const results = await exchange(connection, open.render, statements);
          connection.giveBack();
          return results;
        } catch (error) {
          leave(connection, error);
          // The server had closed it while nobody was looking, and a question may be asked twice.
          if (sent === "before" && connection.isReused && isGone(error)) continue;
          throw storeFailure(error, this.#settings.place, sent);
        }
      }
    });
  }

  transact<Result>(
    work: (tx: MysqlTransaction) => Promise<Result>,
    use: Use = "work",
    signal?: AbortSignal,
  ): Promise<Result> {
    return this.#do(async (open) => {
      const take = (): Promise<Connection> => this.#take(open, use, signal);
      const tx = new MysqlTransaction(take, open.render, this.#settings.place);
      try {
        const result = await untilAborted(work(tx), signal);
        await tx.finish();
        return result;
      } catch (error) {
        if (signal?.aborted) tx.giveUp();
        await tx.undo();
        throw error;
      }
    });
  }

  /**
   * A connection for the caller alone, outside of transactions, for work that may take long; whatever it sets is over
   * afterwards.
   */
  alone<Result>(work: (run: Session["run"]) => Promise<Result>): Promise<Result> {
    return this.#do(async (open) => {
      const connection = await this.#take(open, "work");
      try {
        const patient = { ...connection, send: (sql: string) => connection.send(sql, patienceMs) };
        await patient.send(patientSession);
        const result = await work((statements) => exchange(patient, open.render, statements));
        await connection.reset();
        connection.giveBack();
        return result;
      } catch (error) {
        connection.destroy();
        throw storeFailure(error, this.#settings.place, "before");
      }
    });
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const open = await this.#opening?.catch(() => undefined);
    this.#opening = undefined;
    await Promise.allSettled(this.#underWay);
    await Promise.all([open?.work.close(), open?.renewal.close()]);
  }

  async #do<Result>(act: (open: Open) => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw closedFailure(this.#settings.place);
    const acting = this.#open().then(act);
    this.#underWay.add(acting);
    try {
      return await acting;
    } finally {
      this.#underWay.delete(acting);
    }
  }

  /** Connects to nothing yet. */
  #open(): Promise<Open> {
    this.#opening ??= loadDriver().then(
      (driver) => openWith(driver, this.#settings),
      (error) => {
        this.#opening = undefined;
        throw error;
      },
    );
    return this.#opening;
  }

  async #take(open: Open, use: Use, signal?: AbortSignal): Promise<Connection> {
    try {
      return await open[use].take(signal);
    } catch (error) {
      throw storeFailure(error, this.#settings.place, "before");
    }
  }
}

interface Open extends Record<Use, Connections> {
  readonly render: Render;
}

function openWith(driver: Driver, settings: MysqlSettings): Open {
  return {
    render: rendering(driver),
    work: connections(driver, settings, settings.max),
    renewal: connections(driver, forRenewal(settings), renewalConnectionsMax),
  };
}

const patienceMs = 600_000;
const patientSession = `SET SESSION lock_wait_timeout = 60 /*M!100600 , max_statement_time = 0 */`;

const begin: Statement = { sql: "START TRANSACTION", values: [] };
const commit: Statement = { sql: "COMMIT", values: [] };

/**
 *   new -> open           the first statements, with START TRANSACTION before them
 *   open -> over          COMMIT with the last statements, or ROLLBACK
 *   new -> over           nothing was asked of it, or all in one round trip
 */
export class MysqlTransaction implements Transaction {
  readonly #take: () => Promise<Connection>;
  readonly #render: Render;
  readonly #place: string;
  #connection: Connection | undefined;
  #state: "new" | "open" | "over" = "new";

  constructor(take: () => Promise<Connection>, render: Render, place: string) {
    this.#take = take;
    this.#render = render;
    this.#place = place;
  }

  /** Once the first statements have run. */
  get client(): Connection | undefined {
    return this.#connection;
  }

  run(statements: readonly Statement[]): Promise<readonly SqlResult[]> {
    return this.#send(statements, false);
  }

  async commit(statements: readonly Statement[]): Promise<readonly SqlResult[]> {
    const results = await this.#send(statements, true);
    this.#end()?.giveBack();
    return results;
  }

  async finish(): Promise<void> {
    if (this.#state === "open") await this.commit([]);
  }

  /** Nobody waits for an answer any more. */
  giveUp(): void {
    this.#connection?.destroy();
  }

  async undo(): Promise<void> {
    const connection = this.#end();
    if (connection === undefined) return;
    try {
      if (!connection.isLost) await connection.send("ROLLBACK");
      leave(connection, undefined);
    } catch {
      connection.destroy();
    }
  }

  #end(): Connection | undefined {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#state = "over";
    return connection;
  }

  async #send(statements: readonly Statement[], commits: boolean): Promise<readonly SqlResult[]> {
    if (this.#state === "over") throw new EverstepError("STORE_FAILED", "The transaction is over.");
    const begins = this.#state === "new";
    const all = [...(begins ? [begin] : []), ...statements, ...(commits ? [commit] : [])];
    const results = await this.#exchange(all, commits);
    this.#state = "open";
    const first = begins ? 1 : 0;
    return results.slice(first, first + statements.length);
  }

  async #exchange(statements: readonly Statement[], commits: boolean): Promise<readonly SqlResult[]> {
    for (;;) {
      this.#connection ??= await this.#take();
      const connection = this.#connection;
      if (this.#state === "open" && connection.isLost) throw lostBefore(this.#place);
      try {
        return await exchange(connection, this.#render, statements);
      } catch (error) {
        if (isConnectionLost(error) || isOutOfCluster(error)) connection.destroy();
        // The server had closed it while nobody was looking: nothing has begun, so it begins on another.
        if (this.#state === "new" && !commits && connection.isReused && isGone(error)) {
          this.#connection = undefined;
          continue;
        }
        throw storeFailure(error, this.#place, commits ? "after" : "before");
      }
    }
  }
}

function lostBefore(place: string): StoreError {
  return new StoreError(
    "unavailable",
    "STORE_UNAVAILABLE",
    `${place} closed the connection in the middle of a transaction; nothing of it was kept. Try again.`,
  );
}

function leave(connection: Connection, error: unknown): void {
  if (connection.isLost || isConnectionLost(error) || isOutOfCluster(error)) connection.destroy();
  else connection.giveBack();
}

function isGone(error: unknown): boolean {
  return isConnectionLost(error) && !isUnanswered(error);
}

function isRead({ sql }: Statement): boolean {
  return /^[\s(]*(?:select|show|with)\b/i.test(sql) && !/\bfor\s+update\b/i.test(sql);
}
