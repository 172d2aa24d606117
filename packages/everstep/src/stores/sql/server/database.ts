/**
 * A database server as the shared statements see it, whatever its driver: calls that wait for what is under way, and
 * transactions whose BEGIN goes out with the first statements and whose COMMIT with the last.
 */
import { EverstepError, StoreError } from "../../../model/error.ts";
import { untilAborted } from "../../../store/until-aborted.ts";
import type { Database, SqlResult, Statement, Transaction, Use } from "../session.ts";
import { CommitRefused } from "../write/refusals.ts";
import { closedFailure, type Sent } from "./failures.ts";

/** One connection, the caller's until it is given back. */
export interface ServerConnection {
  /** Nothing can follow on it. */
  readonly isLost: boolean;
  /** It has been lying in the pool, where the server may have closed it unnoticed. */
  readonly isReused: boolean;
  /** One round trip, as far as it can be; stops at the first statement that fails. Throws the driver's own error. */
  exchange(statements: readonly Statement[]): Promise<readonly SqlResult[]>;
  /** Ends the transaction, if one is open. */
  rollback(): Promise<void>;
  /** Gives it back, or throws it away where nothing can follow what failed. */
  leave(error?: unknown): void;
  /** Closes it at once: what it is in the middle of is rolled back by the server. It is left all the same. */
  destroy(): void;
}

export interface ServerConnections {
  take(use: Use, signal?: AbortSignal): Promise<ServerConnection>;
  close(): Promise<void>;
}

/** What differs between the kinds of servers. */
export interface ServerKind<Open extends ServerConnections> {
  readonly place: string;
  /** Loads the driver. */
  open(): Promise<Open>;
  failure(error: unknown, sent: Sent): Error;
  /** It changes nothing and locks nothing. */
  isRead(statement: Statement): boolean;
  /** Several statements stop at the first that fails only within a transaction. */
  readonly framesWrites: boolean;
  readonly begin: Statement;
  /** What else goes before the first statements of a transaction. */
  setLocally(use: Use): readonly Statement[];
  /** The connection was closed before it was asked anything. */
  isGone(error: unknown): boolean;
  /** What COMMIT itself was refused for, and whether a key was taken; null where a statement before it failed. */
  refusedCommit?(error: unknown): { readonly isTaken: boolean } | null;
}

export const commit: Statement = { sql: "COMMIT", values: [] };

export class ServerDatabase<Open extends ServerConnections = ServerConnections> implements Database {
  readonly #kind: ServerKind<Open>;
  #opening: Promise<Open> | undefined;
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(kind: ServerKind<Open>) {
    this.#kind = kind;
  }

  run(statements: readonly Statement[], use: Use = "work"): Promise<readonly SqlResult[]> {
    const { begin, framesWrites, failure, isGone, isRead } = this.#kind;
    const onlyReads = statements.every(isRead);
    const sent = onlyReads ? "before" : "after";
    const isFramed = framesWrites && statements.length > 1 && !onlyReads;
    const framed = isFramed ? [begin, ...statements, commit] : statements;
    return this.withOpen(async (open) => {
      for (;;) {
        const connection = await this.#take(open, use);
        try {
          const results = await connection.exchange(framed);
          connection.leave();
          return isFramed ? results.slice(1, -1) : results;
        } catch (error) {
          connection.leave(error);
          // The server had closed it while nobody was looking, and a question may be asked twice.
          if (onlyReads && connection.isReused && isGone(error)) continue;
          throw failure(error, sent);
        }
      }
    });
  }

  transact<Result>(
    work: (tx: Transaction) => Promise<Result>,
    use: Use = "work",
    signal?: AbortSignal,
  ): Promise<Result> {
    return this.withOpen(async (open) => {
      const tx = new ServerTransaction(this.#kind, () => this.#take(open, use, signal), use);
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

  /** Waits for what is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const open = await this.#opening?.catch(() => undefined);
    this.#opening = undefined;
    await Promise.allSettled(this.#underWay);
    await open?.close();
  }

  protected async withOpen<Result>(act: (open: Open) => Promise<Result>): Promise<Result> {
    if (this.#isClosed) throw closedFailure(this.#kind.place);
    const acting = this.#open().then(act);
    this.#underWay.add(acting);
    try {
      return await acting;
    } finally {
      this.#underWay.delete(acting);
    }
  }

  #open(): Promise<Open> {
    this.#opening ??= this.#kind.open().catch((error) => {
      this.#opening = undefined;
      throw this.#kind.failure(error, "before");
    });
    return this.#opening;
  }

  async #take(open: Open, use: Use, signal?: AbortSignal): Promise<ServerConnection> {
    try {
      return await open.take(use, signal);
    } catch (error) {
      throw this.#kind.failure(error, "before");
    }
  }
}

/**
 *   new -> open           the first statements, with BEGIN before them
 *   open -> over          COMMIT with the last statements, or ROLLBACK
 *   new -> over           nothing was asked of it, or all in one round trip
 */
class ServerTransaction implements Transaction {
  readonly #kind: ServerKind<ServerConnections>;
  readonly #take: () => Promise<ServerConnection>;
  readonly #use: Use;
  #connection: ServerConnection | undefined;
  #state: "new" | "open" | "over" = "new";

  constructor(kind: ServerKind<ServerConnections>, take: () => Promise<ServerConnection>, use: Use) {
    this.#kind = kind;
    this.#take = take;
    this.#use = use;
  }

  /** Once the first statements have run. */
  get client(): ServerConnection | undefined {
    return this.#connection;
  }

  run(statements: readonly Statement[]): Promise<readonly SqlResult[]> {
    return this.#send(statements, false);
  }

  async commit(statements: readonly Statement[]): Promise<readonly SqlResult[]> {
    const results = await this.#send(statements, true);
    this.#end()?.leave();
    return results;
  }

  async finish(): Promise<void> {
    if (this.#state === "open") await this.commit([]);
  }

  /** Nobody waits for an answer any more. */
  giveUp(): void {
    this.#connection?.destroy();
  }

  /** Rolls back what was not committed. A connection that does not do so is thrown away, and the server rolls back. */
  async undo(): Promise<void> {
    const connection = this.#end();
    if (connection === undefined) return;
    try {
      if (!connection.isLost) await connection.rollback();
    } catch {
      connection.destroy();
    }
    connection.leave();
  }

  #end(): ServerConnection | undefined {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#state = "over";
    return connection;
  }

  async #send(statements: readonly Statement[], commits: boolean): Promise<readonly SqlResult[]> {
    if (this.#state === "over") throw new EverstepError("STORE_FAILED", "The transaction is over.");
    const { begin, setLocally } = this.#kind;
    const before = this.#state === "new" ? [begin, ...setLocally(this.#use)] : [];
    const all = [...before, ...statements, ...(commits ? [commit] : [])];
    const results = await this.#exchange(all, commits);
    this.#state = "open";
    return results.slice(before.length, before.length + statements.length);
  }

  async #exchange(statements: readonly Statement[], commits: boolean): Promise<readonly SqlResult[]> {
    for (;;) {
      this.#connection ??= await this.#take();
      const connection = this.#connection;
      if (this.#state === "open" && connection.isLost) throw lostBefore(this.#kind.place);
      try {
        return await connection.exchange(statements);
      } catch (error) {
        // The server had closed it while nobody was looking: nothing has begun, so it begins on another.
        if (this.#state === "new" && !commits && connection.isReused && this.#kind.isGone(error)) {
          connection.destroy();
          connection.leave();
          this.#connection = undefined;
          continue;
        }
        throw this.#failed(error, commits);
      }
    }
  }

  #failed(error: unknown, commits: boolean): Error {
    const failure = this.#kind.failure(error, commits ? "after" : "before");
    const refused = commits ? (this.#kind.refusedCommit?.(error) ?? null) : null;
    return refused !== null && failure instanceof StoreError && !failure.retryable
      ? new CommitRefused(failure, refused.isTaken)
      : failure;
  }
}

function lostBefore(place: string): StoreError {
  return new StoreError(
    "unavailable",
    "STORE_UNAVAILABLE",
    `${place} closed the connection in the middle of a transaction; nothing of it was kept. Try again.`,
  );
}
