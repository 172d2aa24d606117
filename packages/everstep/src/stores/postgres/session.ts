/**
 * The database as the shared statements see it. Several statements go out at once and are answered one by one; when one
 * fails, the server refuses the rest of the transaction, and its COMMIT rolls back.
 */
import { StoreError } from "../../model/error.ts";
import {
  type Database,
  forRenewal,
  type SqlResult,
  type Statement,
  type Transaction,
  type Use,
} from "../sql/session.ts";
import { CommitRefused } from "../sql/write/refusals.ts";
import { type Connection, type Connections, connections, forsake } from "./connections.ts";
import { type DriverClient, type DriverResult, loadDriver } from "./driver.ts";
import {
  closedFailure,
  errorCode,
  isConnectionLost,
  isUniqueViolation,
  type Sent,
  storeFailure,
} from "./failures.ts";
import type { PostgresSettings } from "./options.ts";
import { type Render, rendering } from "./statement-text.ts";

export class PostgresDatabase implements Database {
  readonly #settings: PostgresSettings;
  readonly #rendering = { prepared: rendering(true), plain: rendering(false) };
  #opening: Promise<Connections> | undefined;
  readonly #underWay = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(settings: PostgresSettings) {
    this.#settings = settings;
  }

  run(statements: readonly Statement[], use: Use = "work"): Promise<readonly SqlResult[]> {
    const onlyReads = statements.every(isRead);
    const sent = onlyReads ? "before" : "after";
    // Several that write must stop at the first that fails; only a transaction makes the server do that.
    const isFramed = statements.length > 1 && !onlyReads;
    const framed = isFramed ? [begin, ...statements, commit] : statements;
    return this.#do(async () => {
      const connection = await this.#take(use);
      try {
        const results = await exchange(connection.client, framed, this.#render);
        return isFramed ? results.slice(1, -1) : results;
      } catch (error) {
        throw this.#failed(error, sent);
      } finally {
        connection.giveBack();
      }
    });
  }

  transact<Result>(
    work: (tx: Transaction) => Promise<Result>,
    use: Use = "work",
    signal?: AbortSignal,
  ): Promise<Result> {
    return this.#do(async () => {
      const connection = await this.#take(use, signal);
      const settings = use === "renewal" ? forRenewal(this.#settings) : this.#settings;
      const tx = new PostgresTransaction(connection, this.#render, settings);
      const giveUp = (): void => connection.destroy();
      signal?.addEventListener("abort", giveUp);
      try {
        const result = await work(tx);
        await tx.finish();
        return result;
      } finally {
        await tx.leave();
        signal?.removeEventListener("abort", giveUp);
      }
    });
  }

  /** A connection of its own, not connected yet; the caller ends it. */
  async single(): Promise<DriverClient> {
    if (this.#isClosed) throw closedFailure(this.#settings.place);
    return (await this.#open()).single();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#underWay);
    const opening = this.#opening;
    this.#opening = undefined;
    await (await opening?.catch(() => undefined))?.close();
  }

  #do<Result>(act: () => Promise<Result>): Promise<Result> {
    if (this.#isClosed) return Promise.reject(closedFailure(this.#settings.place));
    const call = act();
    this.#underWay.add(call);
    const over = (): void => void this.#underWay.delete(call);
    call.then(over, over);
    return call;
  }

  /** Once it is open. */
  get #render(): Render {
    const { prepared, plain } = this.#rendering;
    return this.#settings.pooling.isPooled ? plain : prepared;
  }

  #open(): Promise<Connections> {
    this.#opening ??= loadDriver()
      .then((driver) => connections(driver, this.#settings))
      .catch((error) => {
        this.#opening = undefined;
        throw this.#failed(error, "before");
      });
    return this.#opening;
  }

  async #take(use: Use, signal?: AbortSignal): Promise<Connection> {
    const open = await this.#open();
    try {
      return await open.take(use, signal);
    } catch (error) {
      throw this.#failed(error, "before");
    }
  }

  #failed(error: unknown, sent: Sent): Error {
    return storeFailure(error, this.#settings.place, sent);
  }
}

class PostgresTransaction implements Transaction {
  readonly #connection: Connection;
  readonly #render: Render;
  readonly #settings: PostgresSettings;
  #state: "new" | "open" | "over" = "new";

  constructor(connection: Connection, render: Render, settings: PostgresSettings) {
    this.#connection = connection;
    this.#render = render;
    this.#settings = settings;
  }

  get client(): unknown {
    return this.#connection.client;
  }

  async run(statements: readonly Statement[]): Promise<readonly SqlResult[]> {
    const before = this.#beginning();
    this.#state = "open";
    try {
      const results = await exchange(this.#connection.client, [...before, ...statements], this.#render);
      return results.slice(before.length);
    } catch (error) {
      throw storeFailure(error, this.#settings.place, "before");
    }
  }

  async commit(statements: readonly Statement[]): Promise<readonly SqlResult[]> {
    const before = this.#beginning();
    // However it goes: behind a statement that failed COMMIT rolls back.
    this.#state = "over";
    const all = [...before, ...statements, commit];
    try {
      const results = await exchange(this.#connection.client, all, this.#render);
      return results.slice(before.length, -1);
    } catch (error) {
      const failure = storeFailure(error, this.#settings.place, "after");
      const isCommit = isOfCommit(error) && failure instanceof StoreError && !failure.retryable;
      throw isCommit ? new CommitRefused(failure, isUniqueViolation(error)) : failure;
    }
  }

  async finish(): Promise<void> {
    if (this.#state === "open") await this.commit([]);
  }

  /** Rolls back what was not committed. A connection that does not do so is thrown away, and the server rolls back. */
  async leave(): Promise<void> {
    if (this.#state === "open" && !this.#connection.isLost) {
      await this.#connection.client.query({ text: "ROLLBACK" }).catch(() => {});
    }
    this.#connection.giveBack();
  }

  #beginning(): readonly Statement[] {
    if (this.#state === "over") throw new Error("This transaction is over.");
    if (this.#state === "open") return [];
    const { pooling, statementTimeoutMs, lockTimeoutMs } = this.#settings;
    return pooling.isPooled
      ? [
          begin,
          { sql: `SET LOCAL statement_timeout = ${statementTimeoutMs}`, values: [] },
          { sql: `SET LOCAL lock_timeout = ${lockTimeoutMs}`, values: [] },
        ]
      : [begin];
  }
}

const begin: Statement = { sql: "BEGIN ISOLATION LEVEL READ COMMITTED", values: [] };
const commit: Statement = { sql: "COMMIT", values: [] };

/** What COMMIT answered, and no statement before it. */
const refusedCommits = new WeakSet<Error>();

function isOfCommit(error: unknown): boolean {
  return error instanceof Error && refusedCommits.has(error);
}

/** All at once; the answers come in order. The first failure is the one that counts: the others follow from it. */
async function exchange(
  client: DriverClient,
  statements: readonly Statement[],
  render: Render,
): Promise<readonly SqlResult[]> {
  const answers = allAtOnce(client, () => statements.map((statement) => client.query(render(statement))));
  const settled = await Promise.allSettled(answers);
  const failed = settled.flatMap((answer, at) =>
    answer.status === "rejected" ? [{ reason: answer.reason as unknown, statement: statements[at] }] : [],
  );
  // A connection that broke fails them all at once, and says the least.
  const first = failed.find(({ reason }) => !isConnectionLost(reason)) ?? failed[0];
  if (first !== undefined) {
    // The primary has become a standby.
    if (errorCode(first.reason) === "25006") forsake(client);
    if (first.statement === commit && first.reason instanceof Error) refusedCommits.add(first.reason);
    throw first.reason;
  }
  return settled.map((answer) => resultOf((answer as PromiseFulfilledResult<DriverResult>).value));
}

/** In one piece, where it would fit into one. */
function allAtOnce<Result>(client: DriverClient, send: () => Result): Result {
  const stream = client.connection?.stream;
  stream?.cork?.();
  try {
    return send();
  } finally {
    stream?.uncork?.();
  }
}

function resultOf({ rows, rowCount }: DriverResult): SqlResult {
  return { rows, changes: rowCount ?? 0 };
}

function isRead({ sql }: Statement): boolean {
  return sql.startsWith("SELECT");
}
