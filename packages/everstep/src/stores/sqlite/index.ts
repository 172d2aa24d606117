import type { Claim, ReturnedLease } from "../../model/lease.ts";
import { has, lacks, type StoreCapabilities } from "../../store/capabilities.ts";
import { withDeletesApart } from "../../store/deletes-apart.ts";
import type {
  ClaimRequest,
  CreateRequest,
  MigrateOptions,
  MigrationReport,
  Ownership,
  RenewAnswer,
  Renewal,
  SendEventRequest,
  Store,
  StoreOutcome,
  StoreRequest,
} from "../../store/store.ts";
import type { Changing, Read } from "../sql/reads/query.ts";
import { closedFailure } from "../sql/server/failures.ts";
import type { Statement } from "../sql/session.ts";
import { SqlStore } from "../sql/sql-store.ts";
import { type ClaimRuns, claims, type Leases, leases } from "./claim.ts";
import { sqliteDialect } from "./dialect.ts";
import { placeOf, storeFailure } from "./failures.ts";
import { readOptions, type SqliteOptions, type SqliteSettings } from "./options.ts";
import { ownership } from "./ownership.ts";
import { planSchema, tableNames } from "./schema.ts";
import {
  type Connection,
  openConnection,
  type SameFile,
  type Statements,
  sameFile,
  statements,
} from "./session.ts";
import { JoinedTransactions } from "./transactions.ts";
import { type Write, writes } from "./write.ts";

/** Keeps workflows in one SQLite file (or ":memory:"). Nothing is opened before the first call. */
export function sqlite(path: string | SqliteOptions): SqliteStore {
  return new SqliteStore(readOptions(path));
}

export type { SqliteDatabase, SqliteDriver, SqliteOpenOptions, SqliteStatement } from "./driver.ts";
export type { SqliteOptions } from "./options.ts";

/**
 * The store contract over one SQLite file. The work itself is synchronous: a call that has begun ends before anything
 * else in the process runs, so requests never interleave inside a transaction.
 */
export class SqliteStore extends SqlStore implements Store {
  readonly name = "sqlite";
  protected readonly pruneSliceMax = 50;
  readonly capabilities: StoreCapabilities;
  readonly ownership?: Ownership;
  readonly #settings: SqliteSettings;
  #opening: Promise<Open> | undefined;
  #open: Open | undefined;
  #isClosed = false;
  readonly #joined: JoinedTransactions;

  constructor(settings: SqliteSettings) {
    super(sqliteDialect(tableNames(settings.namespace)));
    this.#settings = settings;
    this.#joined = new JoinedTransactions(settings, writes);
    const { file } = settings;
    this.capabilities = file === null ? inMemory : onDisk;
    if (file !== null) this.ownership = ownership({ ...settings, file });
  }

  async migrate({ plan = false }: MigrateOptions = {}): Promise<MigrationReport> {
    if (plan && this.#open === undefined) return this.#plan();
    const open = this.#open ?? (await this.#ready());
    const report = open.migrated;
    const nothing = { from: report.to, to: report.to, statements: [] };
    if (plan) return nothing;
    open.migrated = nothing;
    return report;
  }

  async #plan(): Promise<MigrationReport> {
    try {
      return await planSchema(this.#settings);
    } catch (error) {
      throw storeFailure(error, this.#settings, "statement");
    }
  }

  write(requests: readonly StoreRequest[], now: number): Promise<readonly StoreOutcome[]> {
    return withDeletesApart(
      requests,
      (others) => this.#do(({ write }) => write(others, now), now),
      (request) => this.remove(request),
    );
  }

  async writeWithin(
    tx: unknown,
    requests: readonly (CreateRequest | SendEventRequest)[],
    now: number,
  ): Promise<readonly StoreOutcome[]> {
    if (this.#isClosed) throw closedFailure(placeOf(this.#settings));
    try {
      return this.#joined.write(tx, requests, now);
    } catch (error) {
      throw storeFailure(error, this.#settings, "statement");
    }
  }

  claim(request: ClaimRequest): Promise<readonly Claim[]> {
    return this.#do(({ claim }) => claim(request), request.now);
  }

  renew(renewals: readonly Renewal[], until: number, now: number): Promise<readonly RenewAnswer[]> {
    return this.#do(({ leases }) => leases.renew(renewals, until, now), now);
  }

  release(given: readonly ReturnedLease[], now: number): Promise<void> {
    return this.#do(({ leases }) => leases.release(given, now));
  }

  protected ask<Result>(begin: () => Read<Result>): Promise<Result> {
    return this.#do(({ statements }) => statements.ask(begin()));
  }

  protected change<Result>(begin: () => Changing<Result>): Promise<Result> {
    return this.#do(({ statements }) => statements.change(begin()));
  }

  protected keepLightly(given: readonly Statement[]): Promise<void> {
    return this.#do(({ statements }) => statements.keepLightly(given));
  }

  changeMark(): Promise<number> {
    return this.#do(({ changeMark }) => changeMark());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const open = await this.#opening?.catch(() => undefined);
    this.#opening = undefined;
    this.#open = undefined;
    open?.connection.db.close();
  }

  async #do<Result>(act: (open: Open) => Result, now?: number): Promise<Result> {
    const open = this.#open ?? (await this.#ready());
    // Only an author's mutation can call while a transaction is open. It ends before the next microtask.
    if (open.connection.db.isTransaction) await Promise.resolve();
    if (this.#isClosed) throw closedFailure(placeOf(this.#settings));
    try {
      if (now !== undefined) open.file.require(now);
      return act(open);
    } catch (error) {
      throw storeFailure(error, this.#settings, "statement");
    }
  }

  /** Opens and migrates at the first call; a failure is not kept, the next call tries again. */
  async #ready(): Promise<Open> {
    if (this.#isClosed) throw closedFailure(placeOf(this.#settings));
    this.#opening ??= this.#openNow().catch((error) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #openNow(): Promise<Open> {
    const { connection, migrated } = await openConnection(this.#settings);
    const dataVersion = connection.db.prepareTuples("PRAGMA data_version");
    const open: Open = {
      connection,
      migrated,
      file: sameFile(this.#settings),
      write: writes(connection),
      claim: claims(connection),
      leases: leases(connection),
      statements: statements(connection),
      changeMark: () => dataVersion.get()?.[0] as number,
    };
    if (!this.#isClosed) this.#open = open;
    return open;
  }
}

interface Open {
  readonly connection: Connection;
  /** What the next call of `migrate` reports: opening has done it already. */
  migrated: MigrationReport;
  readonly file: SameFile;
  readonly write: Write;
  readonly claim: ClaimRuns;
  readonly leases: Leases;
  readonly statements: Statements;
  /** Another one after every commit of another connection; reading it touches shared memory only. */
  readonly changeMark: () => number;
}

const noNudges = lacks(
  "SQLite has no notification channel; a mark that others have written is looked at instead",
);

const onDisk: StoreCapabilities = {
  durable: has,
  shared: has,
  mutations: has,
  transactions: has,
  nudges: noNudges,
  ownership: has,
};

const inMemory: StoreCapabilities = {
  durable: lacks("the data lives in the memory of one process"),
  shared: lacks("the data lives in the memory of one process"),
  mutations: has,
  transactions: lacks("nobody else can open this database, so nobody else can begin a transaction in it"),
  nudges: noNudges,
  ownership: lacks("when the owner dies its data dies with it"),
};
