/** What cases do with a store, in one line each. */
import type { InstanceRecord, InstanceRef, RunId } from "../../model/instance.ts";
import type { Claim } from "../../model/lease.ts";
import type { StepRecord } from "../../model/step.ts";
import type {
  ClaimRequest,
  CommitOutcome,
  CommitRequest,
  EventRecord,
  Next,
  OutcomeOf,
  Page,
  PageQuery,
  Store,
  StoredLogLine,
  StoreRequest,
} from "../../store/index.ts";
import { equal, isTrue } from "./check.ts";
import {
  at,
  boundary,
  type CreateFacts,
  claimRequest,
  commit,
  create,
  deletion,
  leaseMs,
  ref,
  suspendUntil,
} from "./given.ts";

/** A write of one request. */
export async function write<Request extends StoreRequest>(
  store: Store,
  request: Request,
  now: number = at(0),
): Promise<OutcomeOf<Request>> {
  const outcomes = await store.write([request], now);
  equal(outcomes.length, 1, "outcomes of a write of one request");
  return outcomes[0] as OutcomeOf<Request>;
}

/** Deletes an instance, whatever its status; false when there was none. */
export async function erased(store: Store, instance: InstanceRef, now: number = at(0)): Promise<boolean> {
  return (await write(store, deletion(instance), now)).kind === "deleted";
}

/** A commit that must be accepted. */
export async function committed(
  store: Store,
  request: CommitRequest,
  now: number = at(0),
): Promise<CommitOutcome & { kind: "committed" }> {
  const outcome = await write(store, request, now);
  equal(outcome.kind, "committed", "the commit");
  return outcome as CommitOutcome & { kind: "committed" };
}

export async function superseded(store: Store, request: CommitRequest, now: number = at(0)): Promise<void> {
  equal(await write(store, request, now), { kind: "superseded" }, "the commit");
}

/** The ids that a claim at `now` gives, in order. */
export async function claimIds(
  store: Store,
  now: number,
  facts: Partial<ClaimRequest> = {},
): Promise<readonly string[]> {
  const claims = await store.claim(claimRequest({ now, ...facts }));
  return claims.map((claim) => claim.instanceId);
}

/** A claim that must give exactly the one instance. */
export async function claimOne(
  store: Store,
  instanceId: string,
  now: number,
  facts: Partial<ClaimRequest> = {},
): Promise<Claim> {
  const claims = await store.claim(claimRequest({ now, ...facts }));
  equal(
    claims.map((claim) => claim.instanceId),
    [instanceId],
    `instances claimed at ${now - at(0)} ms`,
  );
  return claims[0] as Claim;
}

/** A new instance in the hands of "runner". */
export async function started(
  store: Store,
  instanceId: string,
  facts: CreateFacts = {},
  now: number = at(0),
): Promise<Claim> {
  const request = create(instanceId, { lease: { owner: "runner", until: now + leaseMs }, ...facts });
  const outcome = await write(store, request, now);
  isTrue(
    outcome.kind === "created" && outcome.claim !== null,
    `"${instanceId}" should be created and leased`,
  );
  return outcome.claim;
}

/** A new instance that took one turn and suspended with these open steps. */
export async function suspended(
  store: Store,
  instanceId: string,
  steps: readonly StepRecord[],
  dueAt: number,
  facts: CreateFacts = {},
  now: number = at(0),
): Promise<Claim> {
  const claim = await started(store, instanceId, facts, now);
  await committed(store, commit(claim.lease, boundary(1, { steps, next: suspendUntil(dueAt) })), now);
  return claim;
}

/** A new instance whose first turn ended it. */
export async function ended(
  store: Store,
  instanceId: string,
  next: Next,
  facts: CreateFacts = {},
  now: number = at(0),
): Promise<Claim> {
  const claim = await started(store, instanceId, facts, now);
  await committed(store, commit(claim.lease, boundary(1, { next })), now);
  return claim;
}

export async function instance(
  store: Store,
  instanceId: string,
  runNumber?: number,
  workflowName?: string,
): Promise<InstanceRecord> {
  const record = await store.getInstance(ref(instanceId, workflowName), runNumber);
  isTrue(record !== undefined, `instance "${instanceId}" should be there`);
  return record;
}

export function stepsOf(store: Store, runId: RunId): Promise<readonly StepRecord[]> {
  return everyPage((query) => store.listSteps(runId, query));
}

export function eventsOf(store: Store, runId: RunId): Promise<readonly EventRecord[]> {
  return everyPage((query) => store.listEvents(runId, query));
}

export function logsOf(store: Store, runId: RunId): Promise<readonly StoredLogLine[]> {
  return everyPage((query) => store.listLogs(runId, query));
}

/** Undelivered events as a turn would read them, by sequence. */
export async function undelivered(
  store: Store,
  runId: RunId,
  eventsAfter = 0,
): Promise<readonly EventRecord[]> {
  const [history] = await store.readRuns([{ runId, steps: false, eventsAfter }]);
  isTrue(history?.kind === "history", "the run should be readable");
  return history.events;
}

/** A whole traversal, page by page. */
export async function everyPage<Item>(
  read: (query: PageQuery) => Promise<Page<Item>>,
  limit = 100,
  order?: "asc" | "desc",
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let after: string | undefined;
  do {
    const page: Page<Item> = await read({
      limit,
      ...(after === undefined ? {} : { after }),
      ...(order === undefined ? {} : { order }),
    });
    isTrue(
      page.items.length <= limit,
      `a page of ${page.items.length} where at most ${limit} were asked for`,
    );
    isTrue(page.after === undefined || page.items.length > 0, "an empty page that says there is more");
    items.push(...page.items);
    after = page.after;
  } while (after !== undefined);
  return items;
}

/** Everything a run shows to the outside, to prove that a refused write left no trace. */
export async function snapshot(store: Store, instanceId: string): Promise<unknown> {
  const record = await instance(store, instanceId);
  return {
    record,
    steps: await stepsOf(store, record.runId),
    events: await eventsOf(store, record.runId),
    undelivered: await undelivered(store, record.runId),
    logs: await logsOf(store, record.runId),
  };
}
