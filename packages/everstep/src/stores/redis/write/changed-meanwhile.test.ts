/** What a write has looked at is changed by others before it is saved; each time it is arranged, not hoped for. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Claim } from "../../../model/lease.ts";
import type { StoreOutcome, StoreRequest } from "../../../store/store.ts";
import {
  claimIds,
  instance,
  started,
  stepsOf,
  suspended,
  write,
} from "../../../testing/store-contract/acts.ts";
import {
  abandon,
  at,
  awaiting,
  awaitingTopic,
  boundary,
  claimRequest,
  commit,
  completed,
  create,
  leaseMs,
  logLine,
  never,
  pause,
  publish,
  restart,
  resume,
  sendEvent,
  suspendUntil,
  terminate,
} from "../../../testing/store-contract/given.ts";
import { loadDriver, type RedisClient } from "../driver.ts";
import type { RedisStore } from "../redis-store.ts";
import { lookScript, saveScript } from "../scripts/index.ts";
import { namespaceOf, openClient, openFresh, redisUrl, removeTestKeys, reopen } from "../test-support.ts";

describe.skipIf(redisUrl === undefined)("what is changed between the look and the save", () => {
  let client: RedisClient;
  let others: RedisStore;
  let store: RedisStore;
  let looks = 0;
  let saves = 0;
  /** Done by others before each save, as long as there is one. */
  let interferences: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    client = await openClient();
  });
  afterAll(async () => {
    await removeTestKeys(client);
    client.disconnect();
  });
  beforeEach(async () => {
    others = openFresh();
    await others.migrate();
    const { create } = await loadDriver();
    store = reopen(others, {
      driver: async () => ({
        create: (url, options) => {
          const made = create(url, options);
          const call = made.call.bind(made);
          made.call = async (command, args) => {
            if (args[0] === lookScript.sha) looks += 1;
            if (args[0] === saveScript.sha) {
              saves += 1;
              await interferences.shift()?.();
            }
            return call(command, args);
          };
          return made;
        },
      }),
    });
    // So that the server has the scripts.
    await write(store, terminate("nobody"));
    await write(store, asleep("warm-up"));
    await write(store, terminate("warm-up"));
    [looks, saves, interferences] = [0, 0, []];
  });
  afterEach(() => Promise.all([store.close(), others.close()]));

  const asleep = (id: string) => create(id, { dueAt: never });
  const tell = (request: StoreRequest) => () => write(others, request, at(3));
  /** What makes a commit go the long way. */
  const doubtful = { noProgress: true } as const;

  test("is seen: a suspend finds the event that came in between (INV-23)", async () => {
    const { lease } = await started(others, "a");
    interferences = [tell(sendEvent("a", "e", "x"))];
    const waits = { steps: [awaiting(1, "x", never)], next: suspendUntil(never), ...doubtful };
    expect(await write(store, commit(lease, boundary(1, waits)), at(4))).toMatchObject({
      kind: "committed",
      dueNow: true,
      eventSeq: 1,
    });
    expect([looks, saves]).toEqual([1, 2]);
    expect(await claimIds(store, at(4))).toEqual(["a"]);
  });

  test("is seen: a commit does not outlive the lease that was lost in between (INV-2)", async () => {
    const { lease } = await started(others, "a");
    interferences = [tell(terminate("a"))];
    const outcome = await write(
      store,
      commit(lease, boundary(1, { steps: [completed(1)], ...doubtful })),
      at(4),
    );
    expect(outcome).toEqual({ kind: "superseded" });
    expect(await stepsOf(store, lease.runId)).toEqual([]);
  });

  test("is seen: a publication reaches who began to wait in between, and nobody twice", async () => {
    await suspended(others, "first", [awaitingTopic(1, "news", never)], never);
    interferences = [
      () => suspended(others, "second", [awaitingTopic(1, "news", never)], never),
      tell(publish("p", "news")),
    ];
    // What comes behind an owner that is abandoned goes the long way with it.
    const [, told] = await store.write([abandon("nobody"), publish("p", "news")], at(4));
    expect(told).toMatchObject({ waiters: 2, duplicate: true });
    expect(await claimIds(store, at(4))).toEqual(["first", "second"]);
  });

  test("is seen: what an owner took in between is abandoned too", async () => {
    await started(others, "first", { lease: { owner: "gone", until: at(leaseMs) } });
    interferences = [() => started(others, "second", { lease: { owner: "gone", until: at(leaseMs) } })];
    expect(await write(store, abandon("gone"), at(4))).toEqual({ kind: "abandoned", runs: 2 });
  });

  test("is seen: a name that was taken in between is taken", async () => {
    const { lease } = await started(others, "a");
    interferences = [tell(asleep("child"))];
    const outcome = await write(store, commit(lease, boundary(1), { alongside: [create("child")] }), at(4));
    expect(outcome.kind).toBe("committed");
    expect(await instance(store, "child")).toMatchObject({ dueAt: never });
    expect(await store.countByStatus()).toMatchObject({ active: 2 });
  });

  test("is seen: two restarts give two runs, the later one with the greater number", async () => {
    await write(others, asleep("a"));
    interferences = [tell(restart("a"))];
    expect(await write(store, restart("a"), at(4))).toMatchObject({ kind: "changed", runNumber: 3 });
    const runs = await store.listRuns({ workflowName: "order", instanceId: "a" }, 10);
    const ids = runs.map(({ runId }) => Number(runId));
    expect(ids).toEqual([...ids].sort((one, other) => other - one));
  });

  test("costs one more round trip each time, and nothing but that when it concerns somebody else", async () => {
    await write(others, asleep("a"));
    interferences = [tell(asleep("b"))];
    expect(await write(store, pause("a"), at(4))).toMatchObject({ kind: "changed" });
    expect([looks, saves]).toEqual([1, 1]);
    interferences = [1, 2].map((n) => async () => {
      await write(others, resume("a"), at(3) + n);
      await write(others, pause("a"), at(3) + n);
    });
    expect(await write(store, resume("a"), at(5))).toMatchObject({ kind: "changed" });
    expect([looks, saves]).toEqual([2, 4]);
  });

  test("again and again makes a batch go one by one, and neighbours get on", async () => {
    for (const id of ["a", "b", "c"]) await write(others, asleep(id));
    interferences = Array.from({ length: 5 }, () => tell(restart("b")));
    const outcomes = await store.write([pause("a"), pause("b"), pause("c"), resume("a")], at(4));
    expect(outcomes.map(({ kind }) => kind)).toEqual(["changed", "changed", "changed", "changed"]);
    expect(await store.countByStatus()).toMatchObject({ active: 1, paused: 2 });
  });

  test("without end is a conflict in which nothing was done, and which may be tried again", async () => {
    await write(others, asleep("a"));
    let count = 0;
    const interfere = (): Promise<unknown> => {
      interferences.push(interfere);
      count += 1;
      return write(others, restart("a"), at(3));
    };
    interferences = [interfere];
    await expect(write(store, pause("a"), at(4))).rejects.toMatchObject({
      code: "STORE_BUSY",
      failure: "conflict",
    });
    expect(count).toBeLessThan(100);
    interferences = [];
    expect(await instance(store, "a")).toMatchObject({ status: "active" });
    expect(await write(store, pause("a"), at(4))).toMatchObject({ kind: "changed", status: "paused" });
  });

  test.each([
    ["pause", pause],
    ["resume", resume],
    ["terminate", terminate],
    ["restart", restart],
  ])("by events, however fast they come, keeps nobody from a decision: %s", async (what, decide) => {
    await suspended(others, "a", [awaiting(1, "y", never)], never);
    if (what === "resume") await write(others, pause("a"));
    [looks, saves] = [0, 0];
    let count = 0;
    const interfere = (): Promise<unknown> => {
      interferences.push(interfere);
      count += 1;
      return write(others, sendEvent("a", `e${count}`, "x"), at(3));
    };
    const { runId } = await instance(others, "a");
    interferences = [interfere];
    expect(await write(store, decide("a"), at(4))).toMatchObject({ kind: "changed" });
    expect([looks, saves, count]).toEqual([1, 1, 1]);
    // And keeps the events.
    const { items } = await store.listEvents(runId, { limit: 10 });
    expect(items.map(({ id, seq }) => [id, seq])).toEqual([["e1", 1]]);
    await write(others, sendEvent("a", "e2", "x"), at(5));
    const current = await instance(store, "a");
    const later = (await store.listEvents(current.runId, { limit: 10 })).items.map(({ seq }) => seq);
    expect(later).toEqual(what === "restart" || what === "terminate" ? [1] : [1, 2]);
  });

  test.each([
    ["pause", pause, "paused"],
    ["terminate", terminate, "superseded"],
    ["restart", restart, "superseded"],
  ] as const)(
    "by commits, however fast they come, keeps nobody from a decision: %s",
    async (_what, decide, then) => {
      const { lease } = await started(others, "a");
      let count = 0;
      const next = (): Promise<StoreOutcome> => {
        count += 1;
        return write(others, commit(lease, boundary(count, { steps: [completed(count)] })), at(3) + count);
      };
      const interfere = (): Promise<unknown> => {
        interferences.push(interfere);
        return next();
      };
      interferences = [interfere];
      expect(await write(store, decide("a"), at(4))).toMatchObject({ kind: "changed", leased: true });
      expect([looks, saves, count]).toEqual([1, 1, 1]);
      expect(await next()).toMatchObject({ kind: then });
      const isFencedOff = then === "superseded";
      expect(await stepsOf(store, lease.runId)).toHaveLength(isFencedOff ? 1 : 2);
      expect(await client.call("HGET", [key(`run:${lease.runId}`), "commit"])).toBe(isFencedOff ? "0" : "2");
    },
  );

  test("by events, however fast they come, keeps no commit from what it does for others", async () => {
    const { lease } = await started(others, "a");
    let count = 0;
    const interfere = (): Promise<unknown> => {
      interferences.push(interfere);
      count += 1;
      return write(others, sendEvent("a", `e${count}`, "x"), at(3));
    };
    interferences = [interfere];
    await write(others, sendEvent("a", "first", "x"), at(2));
    const outcome = await write(store, commit(lease, boundary(1), { alongside: [create("child")] }), at(4));
    // The second might as well have come behind it.
    expect(outcome).toMatchObject({ kind: "committed", eventSeq: 1 });
    expect([looks, saves, count]).toEqual([1, 1, 1]);
    const { items } = await store.listEvents(lease.runId, { limit: 10 });
    expect(items.map(({ id, seq }) => [id, seq])).toEqual([
      ["first", 1],
      ["e1", 2],
    ]);
  });

  test("by events that nobody waits for keeps no turn from its end: it takes one script", async () => {
    const { lease } = await started(others, "a");
    await write(others, sendEvent("a", "e1", "x"));
    const waits = { steps: [awaiting(1, "y", never)], next: suspendUntil(never) };
    expect(await write(store, commit(lease, boundary(1, waits)), at(4))).toMatchObject({
      kind: "committed",
      dueNow: false,
      eventSeq: 1,
    });
    expect([looks, saves]).toEqual([0, 0]);
    expect(await claimIds(store, at(4))).toEqual([]);
    await write(others, sendEvent("a", "e2", "y"));
    expect(await claimIds(store, at(4))).toEqual(["a"]);
  });

  test.each([
    ["of one that the commit opens", "y"],
    ["of one that was open before", "z"],
  ])("by an event that it waits for is seen all the same: %s", async (_what, type) => {
    const { lease } = await started(others, "a");
    const before = { steps: [awaiting(1, "z", never)], next: suspendUntil(at(2)) };
    await write(others, commit(lease, boundary(1, before)), at(1));
    const [claim] = await others.claim(claimRequest({ now: at(2) }));
    for (const each of ["x", type]) await write(others, sendEvent("a", each, each), at(2));
    const waits = { steps: [awaiting(2, "y", never)], next: suspendUntil(never) };
    const outcome = await write(store, commit((claim as Claim).lease, boundary(1, waits)), at(4));
    expect(outcome).toMatchObject({ kind: "committed", dueNow: true, eventSeq: 2 });
    expect(await claimIds(store, at(4))).toEqual(["a"]);
  });

  test("after part of a batch was applied leaves open what became of it", async () => {
    await write(others, asleep("a"));
    const interfere = (): Promise<unknown> => {
      interferences.push(interfere);
      return write(others, restart("a"), at(3));
    };
    interferences = [interfere];
    await expect(store.write([asleep("b"), pause("a")], at(4))).rejects.toMatchObject({
      failure: "ambiguous",
    });
    interferences = [];
    const again = await store.write([asleep("b"), pause("a")], at(5));
    expect(again).toMatchObject([{ kind: "exists" }, { kind: "changed" }]);
  });

  test("into something else is found before the first write", async () => {
    const { lease } = await started(others, "a");
    interferences = [() => client.call("SET", [key(`logs:${lease.runId}`), "theirs"])];
    const whole = boundary(1, { steps: [completed(1)], logs: [logLine("done")], ...doubtful });
    await expect(write(store, commit(lease, whole), at(4))).rejects.toMatchObject({ failure: "fatal" });
    expect(await stepsOf(store, lease.runId)).toEqual([]);
    await client.call("DEL", [key(`logs:${lease.runId}`)]);
    expect(await write(store, commit(lease, whole), at(4))).toMatchObject({ kind: "committed" });
  });

  test("by a server that went back in time gives no number of a run twice", async () => {
    const { lease } = await started(others, "a");
    const [taken] = [`${await lastRun()}`];
    interferences = [
      async () => {
        // Somebody else has the number that this write was given.
        await client.call("HSET", [key(`run:${await lastRun()}`), "workflow", "theirs"]);
      },
    ];
    await write(store, commit(lease, boundary(1), { alongside: [create("child")] }), at(4));
    expect(Number((await instance(store, "child")).runId)).toBeGreaterThan(Number(taken));
    expect(saves).toBe(2);
  });

  const key = (name: string): string => `{${namespaceOf(others)}}:${name}`;
  const lastRun = async (): Promise<number> => Number(await client.call("HGET", [key("meta"), "lastRun"]));
});

describe.skipIf(redisUrl === undefined)("a batch of plain requests and others", () => {
  let client: RedisClient;
  beforeAll(async () => {
    client = await openClient();
  });
  afterAll(async () => {
    await removeTestKeys(client);
    client.disconnect();
  });

  test("keeps the order of those about the same instance", async () => {
    const store = openFresh();
    const outcomes = await store.write(
      [
        create("a"),
        pause("a"),
        sendEvent("a", "e1", "x"),
        create("b"),
        terminate("a"),
        sendEvent("a", "e2", "x"),
        sendEvent("b", "e3", "x"),
        create("a"),
      ],
      at(0),
    );
    expect(outcomes).toMatchObject([
      { kind: "created" },
      { kind: "changed", status: "paused" },
      { kind: "accepted", status: "paused" },
      { kind: "created" },
      { kind: "changed", status: "terminated" },
      { kind: "terminal" },
      { kind: "accepted", status: "active" },
      { kind: "exists", status: "terminated" },
    ]);
    await store.close();
  });

  test("keeps the order of a commit that goes the long way and what comes behind it", async () => {
    const store = openFresh();
    const { lease } = await started(store, "a");
    const outcomes = await store.write(
      [
        commit(lease, boundary(1, { steps: [completed(1)], noProgress: true })),
        commit(lease, boundary(2, { steps: [completed(2)] })),
        sendEvent("a", "e", "x"),
        commit(lease, boundary(3, { next: suspendUntil(never) })),
      ],
      at(1),
    );
    expect(outcomes).toMatchObject([
      { kind: "committed", eventSeq: 0 },
      { kind: "committed", eventSeq: 0 },
      { kind: "accepted" },
      { kind: "committed", eventSeq: 1 },
    ]);
    await store.close();
  });

  test("creates instances in the order of their requests", async () => {
    const store = openFresh();
    await store.write([create("a"), create("b", { history: [completed(1)] }), create("c")], at(0));
    const { items } = await store.listInstances({ limit: 10, order: "asc" });
    expect(items.map(({ instanceId }) => instanceId)).toEqual(["a", "b", "c"]);
    await store.close();
  });

  test("takes names that look like numbers for names", async () => {
    const store = openFresh();
    await store.write([create("0"), create("-"), create("1", { workflowName: "0" })], at(0));
    expect(await instance(store, "0")).toMatchObject({ status: "active" });
    expect(await store.getInstance({ workflowName: "0", instanceId: "1" })).toMatchObject({
      instanceId: "1",
    });
    await store.close();
  });
});
