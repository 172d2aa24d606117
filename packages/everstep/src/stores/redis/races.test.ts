/**
 * Every pair of verbs at once, from two processes, on the same instance: whatever happens, it is what one of the two
 * orders would have given.
 */
import { afterAll, describe, expect, test } from "vitest";
import type { RunId } from "../../model/instance.ts";
import type { Claim } from "../../model/lease.ts";
import type { Store, StoreRequest } from "../../store/store.ts";
import { erased, everyPage, snapshot, started, suspended, write } from "../../testing/store-contract/acts.ts";
import {
  abandon,
  at,
  awaiting,
  awaitingTopic,
  begun,
  boundary,
  claimRequest,
  commit,
  complete,
  completed,
  create,
  leaseMs,
  never,
  pause,
  publish,
  ref,
  restart,
  resume,
  sendEvent,
  suspendUntil,
  terminate,
} from "../../testing/store-contract/given.ts";
import { memory } from "../memory/index.ts";
import { openClient, openFresh, redisUrl, removeTestKeys, reopen } from "./test-support.ts";

/** What the two have to do with each other. */
interface Stage {
  /** In the hands of a runner. */
  readonly held: Claim;
  /** Waiting, with the lease it gave back. */
  readonly waiting: Claim;
  readonly runIds: readonly RunId[];
}

type Act = (store: Store, stage: Stage) => Promise<unknown>;

const acts: Readonly<Record<string, Act>> = {
  create: writes(() => create("new")),
  "commit that goes on": writes(({ held }) => commit(held.lease, boundary(1, { steps: [completed(1)] }))),
  "commit that suspends": writes(({ held }) =>
    commit(held.lease, boundary(1, { steps: [awaiting(1, "x", never)], next: suspendUntil(never) })),
  ),
  "commit that ends": writes(({ held }) => commit(held.lease, boundary(1, { next: complete() }))),
  "event for the held": writes(() => sendEvent("held", "e1", "x")),
  "event for the waiting": writes(() => sendEvent("waiting", "e2", "x")),
  publish: writes(() => publish("p1", "news")),
  "pause of the held": writes(() => pause("held")),
  "pause of the waiting": writes(() => pause("waiting")),
  resume: writes(() => resume("waiting", true)),
  terminate: writes(() => terminate("held")),
  restart: writes(() => restart("held")),
  wake: writes(({ waiting }) => ({ kind: "wake", runId: waiting.lease.runId, token: waiting.lease.token })),
  abandon: writes(() => abandon("runner")),
  claim: (store) => store.claim(claimRequest({ now: at(5), owner: "other", token: 77 })),
  "claim of what ran out": (store) =>
    store.claim(claimRequest({ now: at(60_000), owner: "other", token: 78 })),
  renew: (store, { held }) => store.renew([{ lease: held.lease, begun: [begun("body")] }], at(90_000), at(5)),
  release: (store, { held }) => store.release([held.lease], at(5)),
  remove: (store) => erased(store, ref("held")),
  prune: (store) => store.prune({ before: never, limit: 10 }),
  read: (store, { held }) => store.readRuns([{ runId: held.lease.runId, steps: true, eventsAfter: 0 }]),
  list: (store) => store.listInstances({ limit: 10 }),
};

const names = Object.keys(acts);

describe.skipIf(redisUrl === undefined)("two processes at once", () => {
  afterAll(async () => {
    const client = await openClient();
    await removeTestKeys(client);
    client.disconnect();
  });

  test.each(names)("%s, beside every other verb, happens before it or after it", async (first) => {
    await Promise.all(
      names.slice(names.indexOf(first)).map(async (second) => {
        const pair = [acts[first], acts[second]] as [Act, Act];
        const told = await race(...pair);
        const possible = [await inOrder(...pair), await inOtherOrder(...pair)];
        expect(possible, `${first} and ${second}`).toContainEqual(told);
      }),
    );
  });
});

async function race(first: Act, second: Act): Promise<unknown> {
  const store = openFresh();
  await store.migrate();
  const stage = await set(store);
  const other = reopen(store);
  await other.migrate();
  const answers = await Promise.all([first(store, stage), second(other, stage)]);
  const told = { answers, ...(await lookAt(store)) };
  await Promise.all([store.close(), other.close()]);
  return numbered(told, stage);
}

/** On the reference store, one after the other. */
async function inOrder(first: Act, second: Act): Promise<unknown> {
  const { store, stage } = await reference();
  const answers = [await first(store, stage), await second(store, stage)];
  return numbered({ answers, ...(await lookAt(store)) }, stage);
}

async function inOtherOrder(first: Act, second: Act): Promise<unknown> {
  const { store, stage } = await reference();
  const answers = [await second(store, stage), await first(store, stage)].reverse();
  return numbered({ answers, ...(await lookAt(store)) }, stage);
}

async function reference(): Promise<{ readonly store: Store; readonly stage: Stage }> {
  const store = memory();
  await store.migrate();
  return { store, stage: await set(store) };
}

async function set(store: Store): Promise<Stage> {
  const lease = { owner: "runner", until: at(leaseMs) };
  const held = await started(store, "held", { retentionMs: 0, lease: { ...lease, token: 11 } });
  const waits = [awaiting(1, "x", never), awaitingTopic(2, "news", never)];
  const waiting = await suspended(store, "waiting", waits, never, { lease: { ...lease, token: 12 } });
  const due = await write(store, create("due"));
  if (due.kind !== "created") throw new Error("should be created");
  return { held, waiting, runIds: [held.lease.runId, waiting.lease.runId, due.runId] };
}

/**
 * Runs are numbered here as they were created: what a store calls them is its own affair. When a run was changed last is said by
 * the step that was recorded or by the commit that did it, which are the same moment but for tests.
 */
function numbered(told: unknown, { runIds }: Stage): unknown {
  const text = JSON.stringify(told, (name, value) => (name === "updatedAt" ? undefined : value));
  const named = [...text.matchAll(/"runId":(\d+)/g)].map(([, id]) => Number(id));
  const later = [...new Set(named)].filter((id) => !runIds.includes(id)).sort((a, b) => a - b);
  const known = [...runIds, ...later].map(String);
  const rank = (id: string): string => (known.includes(id) ? `run ${known.indexOf(id) + 1}` : id);
  return JSON.parse(
    text
      .replaceAll(/"runId":(\d+)/g, (_all, id) => `"runId":"${rank(id)}"`)
      .replaceAll(/"runIds":\[([\d,]*)\]/g, (_all, ids) => `"runIds":"${ids.split(",").map(rank)}"`)
      .replaceAll(/:(\d+):(\d+)"/g, (_all, id, index) => `:${rank(id)}:${index}"`),
  );
}

async function lookAt(store: Store): Promise<object> {
  const { items } = await store.listInstances({ limit: 100 });
  const runs = await Promise.all(items.map((item) => store.listRuns(item, 10)));
  return {
    runs: runs.flat().map(({ updatedAt: _, ...record }) => record),
    snapshots: await Promise.all(
      items.map(async (item) => withoutUpdates(await snapshot(store, item.instanceId))),
    ),
    waiters: await everyPage((query) => store.listWaiters("news", query)),
    counts: await store.countByStatus(),
    nextDueAt: await store.nextDueAt(["order"]),
  };
}

function withoutUpdates(seen: unknown): unknown {
  const { record, ...rest } = seen as { readonly record: { readonly updatedAt: number } };
  const { updatedAt: _, ...facts } = record;
  return { ...rest, record: facts };
}

function writes(request: (stage: Stage) => StoreRequest): Act {
  return (store, stage) => store.write([request(stage)], at(5));
}
