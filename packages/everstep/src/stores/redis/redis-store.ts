/**
 * The store contract over one Redis server. Every call is one script, which Redis runs from beginning to end without
 * anything in between; only a write that is not plain takes two (write/write.ts).
 */
import type { EventRecord } from "../../model/event.ts";
import type { InstanceRecord, InstanceRef, InstanceStatus, RunId } from "../../model/instance.ts";
import type { Claim, ReturnedLease } from "../../model/lease.ts";
import type { StoredLogLine } from "../../model/log-line.ts";
import type { StepRecord } from "../../model/step.ts";
import { has, lacks, type StoreCapabilities } from "../../store/capabilities.ts";
import { withDeletesApart } from "../../store/deletes-apart.ts";
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
  NudgeListener,
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
  StoreOutcome,
  StoreRequest,
  StoreWarning,
  TallyQuery,
  TopicSummary,
  TopicWaiter,
  ValueTerms,
} from "../../store/store.ts";
import { ownerFiles } from "../machine/owner-files.ts";
import type { RedisSettings } from "./options.ts";
import * as beats from "./reads/beats.ts";
import * as instances from "./reads/instances.ts";
import { listDue } from "./reads/instances.ts";
import * as lists from "./reads/run-lists.ts";
import { listTopics, readRuns } from "./reads/run-lists.ts";
import { type Subscription, subscribe } from "./server/nudges.ts";
import { integer, list } from "./server/script-values.ts";
import { Session } from "./server/session.ts";
import { claim, release, renew } from "./write/claim.ts";
import { Lists, listUnlisted, prune, remove } from "./write/upkeep.ts";
import { write } from "./write/write.ts";

export class RedisStore implements Store {
  readonly name = "redis";
  readonly ownership: Ownership = ownerFiles({ listRunners: (limit) => this.listRunners(limit) });
  readonly capabilities: StoreCapabilities = capabilities;
  readonly writesAtOnce = 2;
  readonly serverTime?: () => Promise<number>;
  readonly #session: Session;
  readonly #lists: Lists;
  readonly #subscriptions = new Set<Subscription>();

  constructor(settings: RedisSettings) {
    this.#session = new Session(settings);
    this.#lists = new Lists(this.#session);
    if (settings.clock === "store") this.serverTime = () => serverTime(this.#session);
  }

  migrate(options: MigrateOptions = {}): Promise<MigrationReport> {
    return options.plan === true ? this.#session.plan() : this.#session.migrate();
  }

  write(requests: readonly StoreRequest[], now: number): Promise<readonly StoreOutcome[]> {
    return withDeletesApart(
      requests,
      (others) => write(this.#session, others, now),
      (request) => remove(this.#session, request),
    );
  }

  claim(request: ClaimRequest): Promise<readonly Claim[]> {
    return claim(this.#session, request);
  }

  readRuns(requests: readonly RunRead[], maxBytes?: number): Promise<readonly RunHistory[]> {
    return readRuns(this.#session, requests, maxBytes);
  }

  renew(
    renewals: readonly Renewal[],
    until: number,
    _now: number,
    signal?: AbortSignal,
  ): Promise<readonly RenewAnswer[]> {
    return renew(this.#session, renewals, until, signal);
  }

  release(leases: readonly ReturnedLease[], now: number): Promise<void> {
    return release(this.#session, leases, now);
  }

  getInstance(ref: InstanceRef, runNumber?: number): Promise<InstanceRecord | undefined> {
    return instances.getInstance(this.#session, ref, runNumber);
  }

  getInstances(refs: readonly InstanceRef[]): Promise<readonly (InstanceRecord | undefined)[]> {
    return instances.getInstances(this.#session, refs);
  }

  getStatuses(refs: readonly InstanceRef[]): Promise<readonly (InstanceStatus | undefined)[]> {
    return instances.getStatuses(this.#session, refs);
  }

  getMarks(refs: readonly InstanceRef[]): Promise<readonly (string | undefined)[]> {
    return instances.getMarks(this.#session, refs);
  }

  listInstances(query: InstanceQuery): Promise<Page<InstanceRecord>> {
    return instances.listInstances(this.#session, query);
  }

  listRuns(ref: InstanceRef, limit: number, terms?: ValueTerms): Promise<readonly InstanceRecord[]> {
    return instances.listRuns(this.#session, ref, limit, terms);
  }

  listSteps(runId: RunId, query: PageQuery & ValueTerms): Promise<Page<StepRecord>> {
    return lists.listSteps(this.#session, runId, query);
  }

  listEvents(runId: RunId, query: PageQuery): Promise<Page<EventRecord>> {
    return lists.listEvents(this.#session, runId, query);
  }

  listLogs(runId: RunId, query: LogQuery): Promise<Page<StoredLogLine>> {
    return lists.listLogs(this.#session, runId, query);
  }

  listWaiters(topic: string, query: PageQuery): Promise<Page<TopicWaiter>> {
    return lists.listWaiters(this.#session, topic, query);
  }

  listTopics(query: PageQuery): Promise<Page<TopicSummary>> {
    return listTopics(this.#session, query);
  }

  countByStatus(workflowName?: string): Promise<Readonly<Record<InstanceStatus, number>>> {
    return instances.countByStatus(this.#session, workflowName);
  }

  nextDueAt(workflows: readonly string[]): Promise<number | null> {
    return instances.nextDueAt(this.#session, workflows);
  }

  listDue(query: DueQuery): Promise<readonly DueRun[]> {
    return listDue(this.#session, query);
  }

  listUnlisted(query: PageQuery): Promise<Page<InstanceRecord>> {
    return listUnlisted(this.#session, query);
  }

  prune(request: PruneRequest): Promise<number> {
    return prune(this.#session, request);
  }

  async beat(beat: Beat): Promise<void> {
    await beats.keep(this.#session, beat);
    // A beat that was kept did not fail; what could not be mended is tried again with the next one.
    if (beat.runner.stoppedAt === null) await this.#lists.mend(beat.runner.seenAt).catch(() => {});
  }

  listRunners(limit: number): Promise<readonly RunnerRecord[]> {
    return beats.runners(this.#session, limit);
  }

  readTallies(query: TallyQuery): Promise<readonly MinuteTally[]> {
    return beats.tallies(this.#session, query);
  }

  async subscribe(listener: NudgeListener): Promise<() => void> {
    const subscription = await subscribe(this.#session, listener);
    this.#subscriptions.add(subscription);
    return () => {
      this.#subscriptions.delete(subscription);
      subscription.stop();
    };
  }

  async probeNudges(signal: AbortSignal): Promise<void> {
    await Promise.all(
      [...this.#subscriptions].map((subscription) =>
        subscription.probe(signal).catch((reason: unknown) => {
          this.#subscriptions.delete(subscription);
          throw reason;
        }),
      ),
    );
  }

  warnings(): Promise<readonly StoreWarning[]> {
    return this.#session.warnings();
  }

  async close(): Promise<void> {
    for (const subscription of this.#subscriptions) subscription.stop();
    await this.#session.close();
  }
}

async function serverTime(session: Session): Promise<number> {
  const [seconds, microseconds] = list(await session.command("TIME"));
  return integer(seconds) * 1000 + Math.floor(integer(microseconds) / 1000);
}

const capabilities: StoreCapabilities = {
  durable: has,
  shared: has,
  mutations: has,
  transactions: lacks("Redis has no transactions that span client code"),
  nudges: has,
  ownership: has,
};
