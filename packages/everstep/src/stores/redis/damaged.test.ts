import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Claim } from "../../model/lease.ts";
import { claimIds, erased, instance, started, suspended, write } from "../../testing/store-contract/acts.ts";
import {
  at,
  awaiting,
  boundary,
  claimRequest,
  commit,
  completed,
  create,
  errored,
  errorOut,
  never,
  pause,
  publish,
  ref,
  restart,
  sendEvent,
  sleeping,
  terminate,
} from "../../testing/store-contract/given.ts";
import type { RedisClient } from "./driver.ts";
import type { RedisStore } from "./redis-store.ts";
import { namespaceOf, openClient, openFresh, redisUrl, removeTestKeys } from "./test-support.ts";

describe.skipIf(redisUrl === undefined)("data that was damaged", () => {
  let client: RedisClient;
  let store: RedisStore;
  beforeAll(async () => {
    client = await openClient();
  });
  afterAll(async () => {
    await removeTestKeys(client);
    client.disconnect();
  });
  beforeEach(async () => {
    store = openFresh();
    await store.migrate();
  });
  afterEach(() => store.close());

  const damages: readonly (readonly [string, string, ...string[]])[] = [
    ["bodies in flight that are no JSON", "HSET run begun", "[{"],
    ["bodies in flight of another shape", "HSET run begun", "[1]"],
    ["an unknown status of the run", "HSET run status", "running"],
    ["a step that is no JSON", "HSET steps 1", "oops"],
    ["a step with too few fields", "HSET steps 1", "[1]"],
    ["a completed step without a result", "HSET steps 1", JSON.stringify(header("completed"))],
    ["a step of an unknown status", "HSET steps 1", JSON.stringify(header("done"))],
    ["a wait without its end", "HDEL waits", "3"],
    ["a wait whose facts make no sense", "HSET waits 3", "\u0001"],
    ["an event without its payload", "HDEL events", "1"],
    ["an event whose facts make no sense", "HSET event-states 1", "?"],
  ];

  test.each(damages)("makes one run unreadable, and no other: %s", async (_what, command, value) => {
    const steps = [completed(1), errored(2), awaiting(3, "x", never)];
    const bad = await suspended(store, "bad", steps, at(10));
    const good = await suspended(store, "good", steps, at(10));
    await store.write([sendEvent("bad", "e1", "x"), sendEvent("good", "e2", "x")], at(1));
    await damage(bad.lease.runId, command, value);
    const histories = await store.readRuns(
      [bad, good].map(({ lease }) => ({ runId: lease.runId, steps: true, eventsAfter: 0 })),
    );
    expect(histories).toMatchObject([
      { kind: "unreadable", runId: bad.lease.runId, error: { code: "HISTORY_UNREADABLE" } },
      { kind: "history", runId: good.lease.runId, steps },
    ]);
  });

  test.each(damages)(
    "fails no write about it half-way, and none of its neighbours: %s",
    async (_what, command, value) => {
      const steps = [completed(1), errored(2), awaiting(3, "x", never)];
      const bad = await suspended(store, "bad", steps, at(10));
      await write(store, sendEvent("bad", "e1", "x"), at(1));
      await damage(bad.lease.runId, command, value);
      const outcomes = await store.write(
        [
          create("before"),
          sendEvent("bad", "e2", "x"),
          publish("p1", "news"),
          terminate("bad"),
          create("after"),
        ],
        at(2),
      );
      expect([outcomes[0]?.kind, outcomes[4]?.kind]).toEqual(["created", "created"]);
      expect(await erased(store, ref("bad"))).toBe(true);
    },
  );

  test.each([
    ["a retention that is no number", "instance:5:order:bad retention", "'abc'"],
    ["a retention that is no whole number", "instance:5:order:bad retention", "'1.5'"],
    ["a number of the run that is none", "run number", "'abc'"],
    ["a count of events that is none", "run buffered", "'abc'"],
    ["a wait for a type that is no text", "waits 3", "cmsgpack.pack(15, 'k', 7)"],
    ["a wait on a topic that is no text", "waits 3", "cmsgpack.pack(15, 'k', nil, { 1 })"],
    ["a wait that no step has", "waits x", "cmsgpack.pack(15, 'k')"],
    ["an event of a type that is no text", "event-states 1", "cmsgpack.pack('e1', 15, false, 7)"],
  ])("keeps nobody from deciding about it, nor its neighbours: %s", async (_what, place, value) => {
    const steps = [completed(1), errored(2), awaiting(3, "x", never)];
    const { lease } = await suspended(store, "bad", steps, at(10));
    await write(store, sendEvent("bad", "e1", "x"), at(1));
    const [name = "", field = ""] = place.split(" ");
    const key = `{${namespaceOf(store)}}:${name.includes(":") ? name : `${name}:${lease.runId}`}`;
    await client.call("EVAL", [`return redis.call('HSET', KEYS[1], ARGV[1], ${value})`, "1", key, field]);
    const decisions = [pause("bad"), restart("bad"), terminate("bad")];
    const outcomes = await store.write(
      [create("before"), create("bad"), ...decisions, create("after")],
      at(2),
    );
    const kinds = ["created", "exists", "changed", "changed", "changed", "created"];
    expect(outcomes.map(({ kind }) => kind)).toEqual(kinds);
    expect(await erased(store, ref("bad"))).toBe(true);
  });

  test("of another kind than it should be fails its neighbours with word that they may have been done", async () => {
    const { lease } = await started(store, "bad");
    await client.call("SET", [`{${namespaceOf(store)}}:steps:${lease.runId}`, "theirs"]);
    const whole = commit(lease, boundary(1, { steps: [completed(1)] }));
    await expect(store.write([create("before"), whole, create("after")], at(1))).rejects.toMatchObject({
      failure: "ambiguous",
    });
    expect(await store.getInstance(ref("before"))).toMatchObject({ status: "active" });
    await expect(write(store, whole, at(1))).rejects.toMatchObject({ failure: "fatal" });
    await expect(store.write([whole, create("after")], at(1))).rejects.toMatchObject({ failure: "fatal" });
    expect(await store.getInstance(ref("after"))).toBeUndefined();
  });

  test("fails a write that has done a part of what was asked with word that it may have", async () => {
    await write(store, publish("p", "news"));
    await client.call("HSET", [`{${namespaceOf(store)}}:publications`, "~4:news:p", "many"]);
    await expect(store.write([create("a"), publish("p", "news")], at(1))).rejects.toMatchObject({
      code: "HISTORY_UNREADABLE",
      failure: "ambiguous",
    });
    await expect(write(store, publish("p", "news"), at(1))).rejects.toMatchObject({
      code: "HISTORY_UNREADABLE",
    });
  });

  test("is handed out as a run with a history, so that its reader learns of it", async () => {
    const bad = await write(store, create("bad"));
    await write(store, create("good"));
    await damage(bad.kind === "created" ? bad.runId : 0, "HSET run begun", "x");
    const claims = await store.claim(claimRequest({ now: at(1) }));
    expect(claims.map(({ instanceId, fresh, begun }) => [instanceId, fresh, begun])).toEqual([
      ["bad", false, []],
      ["good", true, []],
    ]);
    const { lease } = claims[0] as Claim;
    await write(store, commit(lease, boundary(1, { next: errorOut("unreadable", true) })), at(2));
    expect(await instance(store, "bad")).toMatchObject({ status: "errored", deadLetter: true });
  });

  test.each([
    ["its run is gone", "DEL run"],
    ["its run is something else", "SET run"],
  ])("does not get in the way of a claim, and is not met again: %s", async (_what, command) => {
    const bad = await write(store, create("bad"));
    await write(store, create("good"));
    await damage(bad.kind === "created" ? bad.runId : 0, "DEL run");
    if (command === "SET run") await damage(bad.kind === "created" ? bad.runId : 0, command, "x");
    expect(await claimIds(store, at(1), { leaseUntil: at(50) })).toEqual(["good"]);
    expect(await store.nextDueAt(["order"])).toBe(at(50));
  });

  test("can still be looked at, listed and removed", async () => {
    const { lease } = await started(store, "bad");
    await write(store, commit(lease, boundary(1, { next: errorOut("e") })), at(1));
    await write(store, create("good", { createdAt: at(1) }));
    await client.call("SET", [`{${namespaceOf(store)}}:ending:${lease.runId}`, "{"]);
    await damage(lease.runId, "HSET run begun", "{");
    expect(await instance(store, "bad")).toMatchObject({
      status: "errored",
      error: { code: "HISTORY_UNREADABLE" },
      terminationReason: null,
      begun: [],
    });
    const { items } = await store.listInstances({ limit: 10, order: "asc" });
    expect(items.map(({ instanceId }) => instanceId)).toEqual(["bad", "good"]);
    expect(await erased(store, ref("bad"))).toBe(true);
  });

  test("a sleeper is still woken", async () => {
    await suspended(store, "a", [sleeping(1, at(5))], at(5));
    expect(await claimIds(store, at(5))).toEqual(["a"]);
  });

  /** "HSET steps 1" with a value: the field 1 of the hash of the run's steps. */
  async function damage(run: number | string, command: string, ...value: string[]): Promise<void> {
    const [name = "", kind, ...field] = command.split(" ");
    await client.call(name, [`{${namespaceOf(store)}}:${kind}:${run}`, ...field, ...value]);
  }
});

/** Of a step's record. */
function header(status: string): unknown[] {
  const facts = [1, "step 1#1", "step 1", 1, "do", status, null, 0, 1, 1, 1, 6, 1, null, null, null, null];
  return [...facts, 1, 1, [], null];
}
