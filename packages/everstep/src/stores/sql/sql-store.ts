/** The part of the store contract that every SQL database keeps in the same way: what is read, and what is removed. */
import type { EventRecord } from "../../model/event.ts";
import type { InstanceRecord, InstanceRef, InstanceStatus, RunId } from "../../model/instance.ts";
import type { StoredLogLine } from "../../model/log-line.ts";
import type { StepRecord } from "../../model/step.ts";
import type {
  Beat,
  DeleteOutcome,
  DeleteRequest,
  DueQuery,
  DueRun,
  InstanceQuery,
  LogQuery,
  MinuteTally,
  Page,
  PageQuery,
  PruneRequest,
  RunHistory,
  RunnerRecord,
  RunRead,
  TallyQuery,
  TopicSummary,
  TopicWaiter,
  ValueTerms,
} from "../../store/store.ts";
import type { Dialect } from "./dialect.ts";
import { type Beats, beats } from "./reads/beats.ts";
import type { ReadDialect } from "./reads/dialect.ts";
import { dueList, type ListDue } from "./reads/due-list.ts";
import { histories, type ReadRuns } from "./reads/histories.ts";
import { instanceList, type ListInstances } from "./reads/instance-list.ts";
import { type Instances, instances } from "./reads/instances.ts";
import type { Changing, Read } from "./reads/query.ts";
import { type Removal, removal } from "./reads/removal.ts";
import { type RunLists, runLists } from "./reads/run-lists.ts";
import { type ListTopics, topicList } from "./reads/topic-list.ts";
import type { Statement } from "./session.ts";

export type SqlDialect = ReadDialect & Pick<Dialect, "put" | "forget" | "remove" | "lock">;

export abstract class SqlStore {
  readonly #instances: Instances;
  readonly #listInstances: ListInstances;
  readonly #readRuns: ReadRuns;
  readonly #lists: RunLists;
  readonly #listTopics: ListTopics;
  readonly #listDue: ListDue;
  readonly #beats: Beats;
  readonly #removal: Removal;
  readonly #dialect: SqlDialect;

  constructor(dialect: SqlDialect) {
    this.#dialect = dialect;
    this.#instances = instances(dialect);
    this.#listInstances = instanceList(dialect);
    this.#readRuns = histories(dialect);
    this.#lists = runLists(dialect);
    this.#listTopics = topicList(dialect);
    this.#listDue = dueList(dialect);
    this.#beats = beats(dialect);
    this.#removal = removal(dialect);
  }

  protected abstract ask<Result>(begin: () => Read<Result>): Promise<Result>;

  /** In one transaction, which is done again when what it has read is out of date. */
  protected abstract change<Result>(begin: () => Changing<Result>): Promise<Result>;

  /** Need not survive a failure of the machine. */
  protected abstract keepLightly(statements: readonly Statement[]): Promise<void>;

  /** Instances that one transaction removes. */
  protected abstract readonly pruneSliceMax: number;

  readRuns(requests: readonly RunRead[], maxBytes?: number): Promise<readonly RunHistory[]> {
    return this.ask(() => this.#readRuns(requests, maxBytes));
  }

  getInstance(ref: InstanceRef, runNumber?: number): Promise<InstanceRecord | undefined> {
    return this.ask(() => this.#instances.get(ref, runNumber));
  }

  getInstances(refs: readonly InstanceRef[]): Promise<readonly (InstanceRecord | undefined)[]> {
    return this.ask(() => this.#instances.getAll(refs));
  }

  getStatuses(refs: readonly InstanceRef[]): Promise<readonly (InstanceStatus | undefined)[]> {
    return this.ask(() => this.#instances.statuses(refs));
  }

  getMarks(refs: readonly InstanceRef[]): Promise<readonly (string | undefined)[]> {
    return this.ask(() => this.#instances.marks(refs));
  }

  listInstances(query: InstanceQuery): Promise<Page<InstanceRecord>> {
    return this.ask(() => this.#listInstances(query));
  }

  listRuns(ref: InstanceRef, limit: number, terms?: ValueTerms): Promise<readonly InstanceRecord[]> {
    return this.ask(() => this.#instances.runs(ref, limit, terms));
  }

  listSteps(runId: RunId, query: PageQuery & ValueTerms): Promise<Page<StepRecord>> {
    return this.ask(() => this.#lists.steps(runId, query));
  }

  listEvents(runId: RunId, query: PageQuery): Promise<Page<EventRecord>> {
    return this.ask(() => this.#lists.events(runId, query));
  }

  listLogs(runId: RunId, query: LogQuery): Promise<Page<StoredLogLine>> {
    return this.ask(() => this.#lists.logs(runId, query));
  }

  listWaiters(topic: string, query: PageQuery): Promise<Page<TopicWaiter>> {
    return this.ask(() => this.#lists.waiters(topic, query));
  }

  listTopics(query: PageQuery): Promise<Page<TopicSummary>> {
    return this.ask(() => this.#listTopics(query));
  }

  countByStatus(workflowName?: string): Promise<Readonly<Record<InstanceStatus, number>>> {
    return this.ask(() => this.#instances.countByStatus(workflowName));
  }

  nextDueAt(workflows: readonly string[]): Promise<number | null> {
    return this.ask(() => this.#instances.nextDueAt(workflows));
  }

  listDue(query: DueQuery): Promise<readonly DueRun[]> {
    return this.ask(() => this.#listDue(query));
  }

  async prune({ before, limit, publicationsBefore }: PruneRequest): Promise<number> {
    if (publicationsBefore !== undefined) {
      await this.change(() => this.#removal.forgetPublications(publicationsBefore));
    }
    // Where a look costs next to nothing, an idle one takes no lock.
    if (this.#dialect.oneByOne && !(await this.ask(() => this.#removal.isAnyOver(before)))) return 0;
    let removed = 0;
    while (removed < limit) {
      const wanted = Math.min(this.pruneSliceMax, limit - removed);
      const slice = await this.change(() => this.#removal.slice(before, wanted));
      removed += slice;
      if (slice < wanted) break;
    }
    return removed;
  }

  protected remove(request: DeleteRequest): Promise<DeleteOutcome> {
    return this.change(() => this.#removal.remove(request));
  }

  beat(beat: Beat): Promise<void> {
    return this.keepLightly(this.#beats.keep(beat));
  }

  listRunners(limit: number): Promise<readonly RunnerRecord[]> {
    return this.ask(() => this.#beats.runners(limit));
  }

  readTallies(query: TallyQuery): Promise<readonly MinuteTally[]> {
    return this.ask(() => this.#beats.tallies(query));
  }
}
