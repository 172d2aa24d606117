import { StoreError } from "../../model/error.ts";
import type { EventRecord } from "../../model/event.ts";
import type { InstanceRecord, InstanceRef, InstanceStatus, RunId } from "../../model/instance.ts";
import type { Claim, ReturnedLease } from "../../model/lease.ts";
import type { StoredLogLine } from "../../model/log-line.ts";
import type { StepRecord } from "../../model/step.ts";
import { apply } from "../../store/apply/apply.ts";
import { passFence } from "../../store/apply/apply-commit.ts";
import { needsOf } from "../../store/apply/needs.ts";
import type { WorkingSet } from "../../store/apply/working-set.ts";
import { readWithin } from "../../store/history-bytes.ts";
import type {
  Beat,
  ClaimRequest,
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
  Store,
  StoreCapabilities,
  StoreOutcome,
  StoreRequest,
  TallyQuery,
  TopicSummary,
  TopicWaiter,
  ValueTerms,
} from "../../store/index.ts";
import { has, lacks } from "../../store/index.ts";
import { runMutations } from "./author-rows.ts";
import { claim } from "./claim.ts";
import type { MemoryDatabase } from "./database.ts";
import { createMemoryDatabase } from "./database.ts";
import { release, renew } from "./leases.ts";
import { load } from "./load.ts";
import { prune } from "./prune.ts";
import * as reads from "./reads.ts";
import { save } from "./save.ts";

export interface MemoryOptions {
  /** Data to share with other stores, each of them standing for a process; data of its own when left out. */
  readonly database?: MemoryDatabase;
}

/** A store that keeps everything in this process: for tests and for simulation. */
export function memory(options: MemoryOptions = {}): MemoryStore {
  return new MemoryStore(options.database ?? createMemoryDatabase());
}

const schemaVersion = 1;

/** Each call runs to its end without awaiting anything, which makes it atomic: no lock, no rollback. */
export class MemoryStore implements Store {
  readonly name = "memory";
  readonly capabilities: StoreCapabilities;
  readonly ownership?: Ownership;
  readonly database: MemoryDatabase;
  #closed = false;

  constructor(database: MemoryDatabase) {
    this.database = database;
    this.capabilities = {
      durable: lacks("the data lives in the memory of one process"),
      shared: lacks("the data lives in the memory of one process"),
      mutations: has,
      transactions: lacks("the data lives in no database that a caller could begin a transaction in"),
      nudges: lacks("there is no other process to tell"),
      ownership: database.owners === null ? lacks("when the owner dies its data dies with it") : has,
    };
    if (database.owners !== null) this.ownership = database.owners;
  }

  async migrate({ plan = false }: MigrateOptions = {}): Promise<MigrationReport> {
    const database = this.#open();
    const from = database.schemaVersion;
    if (!plan) database.schemaVersion = schemaVersion;
    return { from, to: schemaVersion, statements: [] };
  }

  async write(requests: readonly StoreRequest[], now: number): Promise<readonly StoreOutcome[]> {
    const database = this.#open();
    requireAlone(requests);
    const set = load(database, needsOf(requests));
    const refused = requests.length === 1 ? mutate(database, set, requests[0]) : undefined;
    if (refused !== undefined) return [refused];
    const outcomes = apply(set, requests, now);
    save(database, set);
    return outcomes;
  }

  async claim(request: ClaimRequest): Promise<readonly Claim[]> {
    return claim(this.#open(), request);
  }

  async readRuns(requests: readonly RunRead[], maxBytes?: number): Promise<readonly RunHistory[]> {
    const database = this.#open();
    return readWithin(requests, maxBytes, (request) => reads.readRun(database, request));
  }

  async renew(renewals: readonly Renewal[], until: number, _now: number): Promise<readonly RenewAnswer[]> {
    const database = this.#open();
    return renewals.map((renewal) => renew(database, renewal, until));
  }

  async release(leases: readonly ReturnedLease[], now: number): Promise<void> {
    const database = this.#open();
    for (const lease of leases) release(database, lease, now);
  }

  async getInstance(ref: InstanceRef, runNumber?: number): Promise<InstanceRecord | undefined> {
    return reads.getInstance(this.#open(), ref, runNumber);
  }

  async getInstances(refs: readonly InstanceRef[]): Promise<readonly (InstanceRecord | undefined)[]> {
    const database = this.#open();
    return refs.map((ref) => reads.getInstance(database, ref));
  }

  async getStatuses(refs: readonly InstanceRef[]): Promise<readonly (InstanceStatus | undefined)[]> {
    const database = this.#open();
    return refs.map((ref) => reads.getInstance(database, ref, undefined)?.status);
  }

  async getMarks(refs: readonly InstanceRef[]): Promise<readonly (string | undefined)[]> {
    const database = this.#open();
    return refs.map((ref) => reads.getMark(database, ref));
  }

  async listInstances(query: InstanceQuery): Promise<Page<InstanceRecord>> {
    return reads.listInstances(this.#open(), query);
  }

  async listRuns(
    ref: InstanceRef,
    limit: number,
    terms: ValueTerms = {},
  ): Promise<readonly InstanceRecord[]> {
    return reads.listRuns(this.#open(), ref, limit, terms);
  }

  async listSteps(runId: RunId, query: PageQuery & ValueTerms): Promise<Page<StepRecord>> {
    return reads.listSteps(this.#open(), runId, query);
  }

  async listEvents(runId: RunId, query: PageQuery): Promise<Page<EventRecord>> {
    return reads.listEvents(this.#open(), runId, query);
  }

  async listLogs(runId: RunId, query: LogQuery): Promise<Page<StoredLogLine>> {
    return reads.listLogs(this.#open(), runId, query);
  }

  async listWaiters(topic: string, query: PageQuery): Promise<Page<TopicWaiter>> {
    return reads.listWaiters(this.#open(), topic, query);
  }

  async listTopics(query: PageQuery): Promise<Page<TopicSummary>> {
    return reads.listTopics(this.#open(), query);
  }

  async countByStatus(workflowName?: string): Promise<Readonly<Record<InstanceStatus, number>>> {
    return reads.countByStatus(this.#open(), workflowName);
  }

  async nextDueAt(workflows: readonly string[]): Promise<number | null> {
    return reads.nextDueAt(this.#open(), workflows);
  }

  async listDue(query: DueQuery): Promise<readonly DueRun[]> {
    return reads.listDue(this.#open(), query);
  }

  async prune(request: PruneRequest): Promise<number> {
    return prune(this.#open(), request);
  }

  async beat(beat: Beat): Promise<void> {
    this.#open().beats.keep(beat);
  }

  async listRunners(limit: number): Promise<readonly RunnerRecord[]> {
    return this.#open().beats.runners(limit);
  }

  async readTallies(query: TallyQuery): Promise<readonly MinuteTally[]> {
    return this.#open().beats.tallies(query);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #open(): MemoryDatabase {
    if (this.#closed)
      throw new StoreError("fatal", "STORE_CLOSED", "This store has been closed; open another one.");
    return this.database;
  }
}

/** The author's writes of a commit that may be applied; given when they were refused, and nothing is to be applied. */
function mutate(
  database: MemoryDatabase,
  set: WorkingSet,
  request: StoreRequest | undefined,
): StoreOutcome | undefined {
  if (request?.kind !== "commit" || request.mutations === null) return undefined;
  if (passFence(set, request).kind !== "passed") return undefined;
  return runMutations(database.authorRows, request.mutations);
}

/** An author's writes share their transaction with one boundary and nothing else, here as in every store. */
function requireAlone(requests: readonly StoreRequest[]): void {
  const withMutations = requests.some((request) => request.kind === "commit" && request.mutations !== null);
  if (withMutations && requests.length > 1) {
    throw new StoreError(
      "invalid",
      "MUTATION_INVALID",
      "A commit with mutations must be the only request of its write.",
    );
  }
}
