/** The store contract over a database server: everything but what belongs to one kind of server. */
import type { EventRecord } from "../../model/event.ts";
import type { InstanceRecord, InstanceRef, InstanceStatus, RunId } from "../../model/instance.ts";
import type { Claim, ReturnedLease } from "../../model/lease.ts";
import type { StoredLogLine } from "../../model/log-line.ts";
import type { StepRecord } from "../../model/step.ts";
import type { StoreCapabilities } from "../../store/capabilities.ts";
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
import { type Beats, beats } from "./beats.ts";
import { type ClaimRuns, claims } from "./claim.ts";
import type { Dialect } from "./dialect.ts";
import { dueList, type ListDue } from "./due-list.ts";
import { histories, type ReadRuns } from "./histories.ts";
import { type Instances, instances } from "./instances.ts";
import { type Leases, leases } from "./leases.ts";
import { sendsFirst } from "./quick-send.ts";
import { quickFirst } from "./quick-write.ts";
import { type Removal, removal } from "./removal.ts";
import { type RunIds, runIds } from "./run-ids.ts";
import { type RunLists, runLists } from "./run-lists.ts";
import type { Database, Session } from "./session.ts";
import { topicList } from "./topic-list.ts";
import { type RunMutations, type Writes, type Written, writes } from "./write.ts";

export interface ServerParts {
  readonly capabilities: StoreCapabilities;
  readonly database: Database;
  readonly dialect: Dialect;
  readonly runMutations: RunMutations;
  /** The caller's own transaction, as `writeWithin` is given it. */
  sessionOf(tx: unknown): Session;
}

export abstract class ServerStore implements Store {
  readonly capabilities: StoreCapabilities;
  readonly writesAtOnce = 2;
  protected readonly runIds: RunIds;
  readonly #database: Database;
  readonly #sessionOf: (tx: unknown) => Session;
  readonly #writes: Writes;
  readonly #write: Writes["write"];
  readonly #claim: ClaimRuns;
  readonly #leases: Leases;
  readonly #readRuns: ReadRuns;
  readonly #instances: Instances;
  readonly #lists: RunLists;
  readonly #listTopics: Store["listTopics"];
  readonly #listDue: ListDue;
  readonly #removal: Removal;
  readonly #beats: Beats;

  constructor({ capabilities, database, dialect, runMutations, sessionOf }: ServerParts) {
    this.capabilities = capabilities;
    this.runIds = runIds(database, dialect);
    this.#database = database;
    this.#sessionOf = sessionOf;
    this.#writes = writes(database, dialect, this.runIds, runMutations);
    this.#write = quickWays(database, dialect, this.runIds, this.#writes.write);
    this.#claim = claims(database, dialect);
    this.#leases = leases(database, dialect);
    this.#readRuns = histories(database, dialect);
    this.#instances = instances(database, dialect);
    this.#lists = runLists(database, dialect);
    this.#listTopics = topicList(database, dialect);
    this.#listDue = dueList(database, dialect);
    this.#removal = removal(database, dialect);
    this.#beats = beats(database, dialect);
  }

  abstract migrate(options?: MigrateOptions): Promise<MigrationReport>;

  /** Called after every write that took effect, or within the caller's transaction before it does. */
  protected async tellOthers(_written: Written, _within?: Session): Promise<void> {}

  async write(requests: readonly StoreRequest[], now: number): Promise<readonly StoreOutcome[]> {
    const written = await this.#write(requests, now);
    void this.tellOthers(written);
    return written.outcomes;
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

  readRuns(requests: readonly RunRead[], bytesMax?: number): Promise<readonly RunHistory[]> {
    return this.#readRuns(requests, bytesMax);
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

  getInstance(ref: InstanceRef, runNumber?: number): Promise<InstanceRecord | undefined> {
    return this.#instances.get(ref, runNumber);
  }

  getInstances(refs: readonly InstanceRef[]): Promise<readonly (InstanceRecord | undefined)[]> {
    return this.#instances.getAll(refs);
  }

  getStatuses(refs: readonly InstanceRef[]): Promise<readonly (InstanceStatus | undefined)[]> {
    return this.#instances.statuses(refs);
  }

  getMarks(refs: readonly InstanceRef[]): Promise<readonly (string | undefined)[]> {
    return this.#instances.marks(refs);
  }

  listInstances(query: InstanceQuery): Promise<Page<InstanceRecord>> {
    return this.#instances.list(query);
  }

  listRuns(ref: InstanceRef, limit: number, terms?: ValueTerms): Promise<readonly InstanceRecord[]> {
    return this.#instances.runs(ref, limit, terms);
  }

  listSteps(runId: RunId, query: PageQuery & ValueTerms): Promise<Page<StepRecord>> {
    return this.#lists.listSteps(runId, query);
  }

  listEvents(runId: RunId, query: PageQuery): Promise<Page<EventRecord>> {
    return this.#lists.listEvents(runId, query);
  }

  listLogs(runId: RunId, query: LogQuery): Promise<Page<StoredLogLine>> {
    return this.#lists.listLogs(runId, query);
  }

  listWaiters(topic: string, query: PageQuery): Promise<Page<TopicWaiter>> {
    return this.#lists.listWaiters(topic, query);
  }

  listTopics(query: PageQuery): Promise<Page<TopicSummary>> {
    return this.#listTopics(query);
  }

  countByStatus(workflowName?: string): Promise<Readonly<Record<InstanceStatus, number>>> {
    return this.#instances.countByStatus(workflowName);
  }

  nextDueAt(workflows: readonly string[]): Promise<number | null> {
    return this.#instances.nextDueAt(workflows);
  }

  listDue(query: DueQuery): Promise<readonly DueRun[]> {
    return this.#listDue(query);
  }

  prune(request: PruneRequest): Promise<number> {
    return this.#removal.prune(request);
  }

  remove(ref: InstanceRef): Promise<boolean> {
    return this.#removal.remove(ref);
  }

  beat(beat: Beat): Promise<void> {
    return this.#beats.keep(beat);
  }

  listRunners(limit: number): Promise<readonly RunnerRecord[]> {
    return this.#beats.runners(limit);
  }

  readTallies(query: TallyQuery): Promise<readonly MinuteTally[]> {
    return this.#beats.tallies(query);
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
