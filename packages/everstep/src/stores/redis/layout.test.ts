import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  claimOne,
  committed,
  ended,
  erased,
  started,
  suspended,
  write,
} from "../../testing/store-contract/acts.ts";
import {
  at,
  awaiting,
  awaitingTopic,
  boundary,
  commit,
  complete,
  completed,
  create,
  errored,
  errorOut,
  logLine,
  never,
  pause,
  publish,
  ref,
  restart,
  sendEvent,
  suspendUntil,
} from "../../testing/store-contract/given.ts";
import type { RedisClient } from "./driver.ts";
import type { RedisStore } from "./redis-store.ts";
import { keysOf, namespaceOf, openClient, openFresh, redisUrl, removeTestKeys } from "./test-support.ts";

// What stays when nothing is left: the namespace's own facts.
const fixed = ["meta", "runners", "runners-seen"];

describe.skipIf(redisUrl === undefined)("the keys of a namespace", () => {
  let client: RedisClient;
  let store: RedisStore;
  beforeAll(async () => {
    client = await openClient();
    store = openFresh();
    await store.migrate();
  });
  afterAll(async () => {
    await store.close();
    await removeTestKeys(client);
    client.disconnect();
  });

  test("all have its hash tag, so that a cluster keeps them in one slot, and say what they are", async () => {
    await everything(store);
    const keys = await keysOf(client, namespaceOf(store));
    const tag = `{${namespaceOf(store)}}:`;
    expect(keys.filter((key) => !key.startsWith(tag))).toEqual([]);
    const kinds = new Set(keys.map((key) => key.slice(tag.length).split(":")[0]));
    expect([...kinds].sort()).toEqual([
      ...[
        "changes",
        "due",
        "ending",
        "event-ids",
        "event-states",
        "events",
        "instance",
        "logs",
        "meta",
        "owner",
      ],
      ...[
        "prune",
        "publication-ages",
        "publications",
        "run",
        "runners",
        "runners-seen",
        "status",
        "steps",
        "tally",
        "tally-minutes",
        "topic",
        "topics",
        "unread",
        "waits",
      ],
      "workflows",
    ]);
    const slots = new Set(await Promise.all(keys.map((key) => slotOf(client, key))));
    expect(slots.size).toBeLessThanOrEqual(1);
  });

  test("are gone with the instances: after pruning everything only the fixed ones are left", async () => {
    expect(await store.prune({ before: never * 2, limit: 1000, publicationsBefore: never })).toBe(3);
    for (const id of ["kept", "waiting", "paused", "leased"]) await erased(store, ref(id));
    await erased(store, ref("b:c", "a"));
    await erased(store, ref("c", "a:b"));
    // The runner that forgets the others is the only one left.
    await beat(store, at(3_600_000), at(3_600_000));
    const keys = await keysOf(client, namespaceOf(store));
    expect(keys).toEqual(fixed.map((name) => `{${namespaceOf(store)}}:${name}`));
  });

  test("have no time to live", async () => {
    await everything(store);
    for (const key of await keysOf(client, namespaceOf(store)))
      expect(await client.call("TTL", [key])).toBe(-1);
  });
});

/** Something of every kind. */
async function everything(store: RedisStore): Promise<void> {
  const retained = { retentionMs: 100 };
  await ended(store, "complete", complete(), retained);
  await ended(store, "dead", errorOut("e", true), retained);
  await ended(store, "kept", errorOut("e"));
  const { lease } = await started(store, "restarted", retained);
  await write(store, sendEvent("restarted", "e1", "x"), at(1));
  const steps = [completed(1), errored(2), awaiting(3, "x", never), awaitingTopic(4, "a:b", never)];
  const all = boundary(1, { steps, logs: [logLine("kept")], next: suspendUntil(never) });
  await committed(store, commit(lease, all), at(1));
  await write(store, publish("p1", "a:b"), at(2));
  await write(store, restart("restarted"), at(3));
  const second = await claimOne(store, "restarted", at(3));
  const consumed = boundary(1, { consumed: [{ seq: 1, stepKey: "x" }], next: complete() });
  await committed(store, commit(second.lease, consumed), at(4));
  await suspended(store, "waiting", [awaiting(1, "x", never), awaitingTopic(2, "news", never)], never);
  await store.write([sendEvent("waiting", "e2", "y"), create("paused"), pause("paused")], at(5));
  await started(store, "leased");
  await beat(store, at(5), 0);
  await store.write([create("b:c", { workflowName: "a" }), create("c", { workflowName: "a:b" })], at(5));
}

async function beat(store: RedisStore, seenAt: number, forgetBefore: number): Promise<void> {
  const runner = { owner: "r", host: null, pid: null, concurrency: 1, turns: 0, workflows: [] };
  const counts = { complete: 1, errored: 0, terminated: 0, steps: 1, failedAttempts: 0 };
  await store.beat({
    runner: { ...runner, startedAt: seenAt, seenAt, stoppedAt: null },
    tallies: forgetBefore === 0 ? [{ minute: at(0), workflowName: "a:b", ...counts }] : [],
    forgetBefore,
  });
}

/** Undefined where the server is no cluster, whose only answer is that. */
async function slotOf(client: RedisClient, key: string): Promise<unknown> {
  return client.call("CLUSTER", ["KEYSLOT", key]).catch(() => undefined);
}
