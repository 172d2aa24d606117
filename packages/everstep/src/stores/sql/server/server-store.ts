/** The store contract over a database server: everything but what belongs to one kind of server. */
import type { Claim, ReturnedLease } from "../../../model/lease.ts";
import { newsOfDelete } from "../../../store/apply/apply-delete.ts";
import type { StoreCapabilities } from "../../../store/capabilities.ts";
import { withDeletesApart } from "../../../store/deletes-apart.ts";
import type {
  ClaimRequest,
  CreateRequest,
  DeleteOutcome,
  DeleteRequest,
  MigrateOptions,
  MigrationReport,
  RenewAnswer,
  Renewal,
  SendEventRequest,
  Store,
  StoreOutcome,
  StoreRequest,
} from "../../../store/store.ts";
import type { Dialect } from "../dialect.ts";
import { type ClaimRuns, claims } from "../lease/claim.ts";
import { type Leases, leases } from "../lease/leases.ts";
import { answerLater, type Changing, type Read } from "../reads/query.ts";
import type { Database, Session, Statement } from "../session.ts";
import { SqlStore } from "../sql-store.ts";
import { repeatedly } from "../write/look-again.ts";
import { sendsFirst } from "../write/quick-send.ts";
import { quickFirst } from "../write/quick-write.ts";
import { type RunIds, runIds } from "../write/run-ids.ts";
import { type RunMutations, type Writes, type Written, writes } from "../write/write.ts";

export interface ServerParts {
  readonly capabilities: StoreCapabilities;
  readonly database: Database;
  readonly dialect: Dialect;
  readonly runMutations: RunMutations;
  /** The caller's own transaction, as `writeWithin` is given it. */
  sessionOf(tx: unknown): Session;
}

export abstract class ServerStore extends SqlStore implements Store {
  readonly capabilities: StoreCapabilities;
  readonly writesAtOnce = 2;
  protected readonly pruneSliceMax = 200;
  protected readonly runIds: RunIds;
  readonly #database: Database;
  readonly #sessionOf: (tx: unknown) => Session;
  readonly #writes: Writes;
  readonly #write: Writes["write"];
  readonly #claim: ClaimRuns;
  readonly #leases: Leases;

  constructor({ capabilities, database, dialect, runMutations, sessionOf }: ServerParts) {
    super(dialect);
    this.capabilities = capabilities;
    this.runIds = runIds(database, dialect);
    this.#database = database;
    this.#sessionOf = sessionOf;
    this.#writes = writes(database, dialect, this.runIds, runMutations);
    this.#write = quickWays(database, dialect, this.runIds, this.#writes.write);
    this.#claim = claims(database, dialect);
    this.#leases = leases(database, dialect);
  }

  abstract migrate(options?: MigrateOptions): Promise<MigrationReport>;

  /** Called after every write that took effect, or within the caller's transaction before it does. */
  protected async tellOthers(_written: Written, _within?: Session): Promise<void> {}

  write(requests: readonly StoreRequest[], now: number): Promise<readonly StoreOutcome[]> {
    return withDeletesApart(
      requests,
      (others) => this.#writeTogether(others, now),
      (request) => this.#delete(request),
    );
  }

  async #writeTogether(requests: readonly StoreRequest[], now: number): Promise<readonly StoreOutcome[]> {
    const written = await this.#write(requests, now);
    void this.tellOthers(written);
    return written.outcomes;
  }

  async #delete(request: DeleteRequest): Promise<DeleteOutcome> {
    const outcome = await this.remove(request);
    void this.tellOthers({ outcomes: [outcome], news: newsOfDelete(outcome) });
    return outcome;
  }

  async writeWithin(
    tx: unknown,
    requests: readonly (CreateRequest | SendEventRequest)[],
    now: number,
  ): Promise<readonly StoreOutcome[]> {
    const session = this.#sessionOf(tx);
    const written = await this.#writes.writeWithin(session, requests.map(withoutLease), now);
    await this.tellOthers(written, session);
    return written.outcomes;
  }

  claim(request: ClaimRequest): Promise<readonly Claim[]> {
    return this.#claim(request);
  }

  renew(
    renewals: readonly Renewal[],
    until: number,
    _now: number,
    signal?: AbortSignal,
  ): Promise<readonly RenewAnswer[]> {
    return this.#leases.renew(renewals, until, signal);
  }

  async release(given: readonly ReturnedLease[], now: number): Promise<void> {
    await this.#leases.release(given, now);
    void this.tellOthers({ outcomes: [], news: { due: true, changed: false, ended: false } });
  }

  protected async ask<Result>(begin: () => Read<Result>): Promise<Result> {
    return answerLater((statements) => this.#database.run(statements), begin());
  }

  protected change<Result>(begin: () => Changing<Result>): Promise<Result> {
    return repeatedly(() =>
      this.#database.transact(async (tx) => {
        const { result, statements } = await answerLater((each) => tx.run(each), begin());
        if (statements.length > 0) await tx.commit(statements);
        return result;
      }),
    );
  }

  /** One round trip and no transaction. */
  protected async keepLightly(statements: readonly Statement[]): Promise<void> {
    await this.#database.run(statements);
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

/** The ways that need one round trip, as far as the database has them, before the one that can do everything. */
function quickWays(
  database: Database,
  { applyQuickly, sendQuickly }: Dialect,
  ids: RunIds,
  write: Writes["write"],
): Writes["write"] {
  const quick = applyQuickly ? quickFirst(applyQuickly, database, ids, write) : write;
  return sendQuickly ? sendsFirst(sendQuickly, database, quick) : quick;
}

/** Nobody may hold a lease on what is not there yet. */
function withoutLease(request: CreateRequest | SendEventRequest): StoreRequest {
  return request.kind === "create" ? { ...request, lease: null } : request;
}
