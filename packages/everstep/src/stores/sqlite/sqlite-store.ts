/**
 * The store contract over one SQLite file. The work itself is synchronous: a call that has begun ends before anything
 * else in the process runs, so requests never interleave inside a transaction.
 */
import type { EventRecord } from "../../model/event.ts";
import type { InstanceRecord, InstanceRef, InstanceStatus, RunId } from "../../model/instance.ts";
import type { Claim, ReturnedLease } from "../../model/lease.ts";
import type { StoredLogLine } from "../../model/log-line.ts";
import type { StepRecord } from "../../model/step.ts";
import { has, lacks, type StoreCapabilities } from "../../store/capabilities.ts";
import type {
  Beat,
  ClaimRequest,
  CreateRequest,
  DueQuery,
  DueRun,
  InstanceQuery,
  LogQuery,
  MigrateOptions,
  MigrationReport,
  MinuteTally,
  Ownership,
  Page,
  PageQuery,
  PruneRequest,
  RenewAnswer,
  Renewal,
  RunHistory,
  RunnerRecord,
  RunRead,
  SendEventRequest,
  Store,
  StoreOutcome,
  StoreRequest,
  TallyQuery,
  TopicSummary,
  TopicWaiter,
  ValueTerms,
} from "../../store/store.ts";
import { type Connection, openConnection } from "./connection.ts";
import { closedFailure, storeFailure } from "./failures.ts";
import { JoinedTransactions } from "./joined-transactions.ts";
import { planSchema } from "./migrate.ts";
import type { SqliteSettings } from "./options.ts";
import { ownership } from "./ownership.ts";
import { pruneSliceMax } from "./prune.ts";
import { type SameFile, sameFile } from "./same-file.ts";
import { type Verbs, verbsOf } from "./verbs.ts";

export class SqliteStore implements Store {
  readonly name = "sqlite";
  readonly capabilities: StoreCapabilities;
  readonly ownership?: Ownership;
  readonly #settings: SqliteSettings;
  #opening: Promise<Open> | undefined;
  #open: Open | undefined;
  #isClosed = false;
  readonly #joined: JoinedTransactions;

  constructor(settings: SqliteSettings) {
    this.#settings = settings;
    this.#joined = new JoinedTransactions(settings);
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
    return this.#do((verbs) => verbs.write(requests, now), now);
  }

  async writeWithin(
    tx: unknown,
    requests: readonly (CreateRequest | SendEventRequest)[],
    now: number,
  ): Promise<readonly StoreOutcome[]> {
    if (this.#isClosed) throw closedFailure(this.#settings);
    try {
      return this.#joined.write(tx, requests, now);
    } catch (error) {
      throw storeFailure(error, this.#settings, "statement");
    }
  }

  claim(request: ClaimRequest): Promise<readonly Claim[]> {
    return this.#do((verbs) => verbs.claim(request), request.now);
  }

  readRuns(requests: readonly RunRead[], bytesMax?: number): Promise<readonly RunHistory[]> {
    return this.#do((verbs) => verbs.readRuns(requests, bytesMax));
  }

  renew(renewals: readonly Renewal[], until: number, now: number): Promise<readonly RenewAnswer[]> {
    return this.#do((verbs) => verbs.leases.renew(renewals, until, now), now);
  }

  release(leases: readonly ReturnedLease[], now: number): Promise<void> {
    return this.#do((verbs) => verbs.leases.release(leases, now));
  }

  getInstance(ref: InstanceRef, runNumber?: number): Promise<InstanceRecord | undefined> {
    return this.#do((verbs) => verbs.instances.get(ref, runNumber));
  }

  getInstances(refs: readonly InstanceRef[]): Promise<readonly (InstanceRecord | undefined)[]> {
    return this.#do((verbs) => verbs.instances.getAll(refs));
  }

  getStatuses(refs: readonly InstanceRef[]): Promise<readonly (InstanceStatus | undefined)[]> {
    return this.#do((verbs) => verbs.instances.statuses(refs));
  }

  getMarks(refs: readonly InstanceRef[]): Promise<readonly (string | undefined)[]> {
    return this.#do((verbs) => verbs.instances.marks(refs));
  }

  listInstances(query: InstanceQuery): Promise<Page<InstanceRecord>> {
    return this.#do((verbs) => verbs.listInstances(query));
  }

  listRuns(ref: InstanceRef, limit: number, terms?: ValueTerms): Promise<readonly InstanceRecord[]> {
    return this.#do((verbs) => verbs.instances.runs(ref, limit, terms));
  }

  listSteps(runId: RunId, query: PageQuery & ValueTerms): Promise<Page<StepRecord>> {
    return this.#do((verbs) => verbs.lists.steps(runId, query));
  }

  listEvents(runId: RunId, query: PageQuery): Promise<Page<EventRecord>> {
    return this.#do((verbs) => verbs.lists.events(runId, query));
  }

  listLogs(runId: RunId, query: LogQuery): Promise<Page<StoredLogLine>> {
    return this.#do((verbs) => verbs.lists.logs(runId, query));
  }

  listWaiters(topic: string, query: PageQuery): Promise<Page<TopicWaiter>> {
    return this.#do((verbs) => verbs.lists.waiters(topic, query));
  }

  listTopics(query: PageQuery): Promise<Page<TopicSummary>> {
    return this.#do((verbs) => verbs.listTopics(query));
  }

  countByStatus(workflowName?: string): Promise<Readonly<Record<InstanceStatus, number>>> {
    return this.#do((verbs) => verbs.instances.countByStatus(workflowName));
  }

  nextDueAt(workflows: readonly string[]): Promise<number | null> {
    return this.#do((verbs) => verbs.instances.nextDueAt(workflows));
  }

  listDue(query: DueQuery): Promise<readonly DueRun[]> {
    return this.#do((verbs) => verbs.listDue(query));
  }

  async prune({ before, limit, publicationsBefore }: PruneRequest): Promise<number> {
    if (publicationsBefore !== undefined) {
      await this.#do((verbs) => verbs.removal.forgetPublications(publicationsBefore));
    }
    let removed = 0;
    for (;;) {
      const rest = limit - removed;
      const slice = await this.#do((verbs) => verbs.removal.pruneSlice(before, rest));
      removed += slice;
      if (slice < pruneSliceMax || removed >= limit) return removed;
    }
  }

  remove(ref: InstanceRef): Promise<boolean> {
    return this.#do((verbs) => verbs.removal.remove(ref));
  }

  beat(beat: Beat): Promise<void> {
    return this.#do((verbs) => verbs.beats.keep(beat));
  }

  listRunners(limit: number): Promise<readonly RunnerRecord[]> {
    return this.#do((verbs) => verbs.beats.runners(limit));
  }

  readTallies(query: TallyQuery): Promise<readonly MinuteTally[]> {
    return this.#do((verbs) => verbs.beats.tallies(query));
  }

  changeMark(): Promise<number> {
    return this.#do((verbs) => verbs.changeMark());
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const open = await this.#opening?.catch(() => undefined);
    this.#opening = undefined;
    this.#open = undefined;
    open?.connection.db.close();
  }

  async #do<Result>(act: (verbs: Verbs) => Result, now?: number): Promise<Result> {
    const { verbs, connection, file } = this.#open ?? (await this.#ready());
    // Only an author's mutation can call while a transaction is open. It ends before the next microtask.
    if (connection.db.isTransaction) await Promise.resolve();
    if (this.#isClosed) throw closedFailure(this.#settings);
    try {
      if (now !== undefined) file.require(now);
      return act(verbs);
    } catch (error) {
      throw storeFailure(error, this.#settings, "statement");
    }
  }

  /** Opens and migrates at the first call; a failure is not kept, the next call tries again. */
  async #ready(): Promise<Open> {
    if (this.#isClosed) throw closedFailure(this.#settings);
    this.#opening ??= this.#openNow().catch((error) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #openNow(): Promise<Open> {
    const { connection, migrated } = await openConnection(this.#settings);
    const open = { connection, migrated, verbs: verbsOf(connection), file: sameFile(this.#settings) };
    if (!this.#isClosed) this.#open = open;
    return open;
  }
}

interface Open {
  readonly connection: Connection;
  /** What the next call of `migrate` reports: opening has done it already. */
  migrated: MigrationReport;
  readonly verbs: Verbs;
  readonly file: SameFile;
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
