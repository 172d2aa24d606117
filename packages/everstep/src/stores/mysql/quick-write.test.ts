import mysql2 from "mysql2";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { mysqlPlace, mysqlUrl } from "../../../../../tests/support/mysql-place.ts";
import type { Lease } from "../../model/lease.ts";
import type { StoreOutcome, StoreRequest } from "../../store/store.ts";
import { erased, eventsOf, logsOf, stepsOf } from "../../testing/store-contract/acts.ts";
import {
  at,
  awaiting,
  begun,
  boundary,
  commit,
  complete,
  completed,
  create,
  errored,
  errorOut,
  leaseMs,
  logLine,
  never,
  pause,
  received,
  ref,
  restart,
  sendEvent,
  sleeping,
  suspendUntil,
  terminate,
  terminateSelf,
} from "../../testing/store-contract/given.ts";
import { idOf } from "../sql/rows/event-row.ts";
import { tables } from "../sql/schema/table.ts";
import type { MysqlStore } from "./index.ts";

/** Nobody's run: a request that belongs to no batch of the common kind, so that all of it goes the long way. */
const longWay: StoreRequest = { kind: "wake", runId: 999_999_999, token: 1 };

describe.skipIf(mysqlUrl === undefined)("on a server", () => {
  const place = mysqlPlace();
  const sent = vi.spyOn(
    (mysql2 as unknown as { Connection: { prototype: { query: () => void } } }).Connection.prototype,
    "query",
  );
  let store: MysqlStore;
  beforeAll(place.create);
  afterAll(async () => {
    sent.mockRestore();
    await place.drop();
  });
  beforeEach(async () => {
    store = await place.open({ max: 1 });
    await store.migrate();
    return () => store.close();
  });

  const leased = async (to: MysqlStore, ids: readonly string[]): Promise<readonly Lease[]> => {
    const lease = { owner: "runner", until: at(leaseMs) };
    const made = await to.write(
      ids.map((id, n) => create(id, { lease: { ...lease, token: 7 + n }, retentionMs: 1000 })),
      at(0),
    );
    return made.flatMap((each) => (each.kind === "created" && each.claim !== null ? [each.claim.lease] : []));
  };

  const written = async (requests: readonly StoreRequest[]) => {
    sent.mockClear();
    const outcomes = await store.write(requests, at(1));
    return { outcomes, kinds: outcomes.map(({ kind }) => kind), roundTrips: sent.mock.calls.length };
  };

  /** Ids of runs begin anywhere; what is alike but for that is alike. */
  const withoutGap = (found: Record<string, unknown>): Record<string, unknown> => {
    const text = JSON.stringify(found);
    const ids = [...text.matchAll(/\\"run\\":(\d+)/g)].map(([, id]) => Number(id));
    const least = Math.min(...ids);
    const names = /\\"(id|run|instance|previous_run)\\":(\d+)/g;
    return JSON.parse(text.replaceAll(names, (_all, name, id) => `\\"${name}\\":${Number(id) - least}`));
  };

  const rowsOf = async (of: MysqlStore): Promise<Record<string, unknown>> => {
    const found: Record<string, unknown> = {};
    for (const table of tables.filter((each) => !["meta", "change"].includes(each))) {
      const rows = await place.query(`SELECT * FROM \`${place.namespaceOf(of)}_${table}\``);
      // The key of an event names its instance.
      const plain = rows.map((row) => (table === "event" ? { ...row, id: idOf(String(row.id)) } : row));
      found[table] = plain.map((row) => JSON.stringify(row)).toSorted();
    }
    return withoutGap(found);
  };

  /** Every kind of commit, each for a run of its own, with and without what may come with it. */
  const everyCommit = (leases: readonly Lease[]): readonly StoreRequest[] => {
    const wait = awaiting(1, "x", at(500));
    const boundaries = [
      boundary(2, { steps: [completed(2), errored(3)], begun: [begun("a")] }),
      boundary(2, {
        steps: [completed(2)],
        begun: [begun("a"), begun('b\'s \\ "c"')],
        logs: [logLine("it's")],
      }),
      boundary(2, { logs: [logLine("one"), logLine("two", { level: "warn" })], begun: [begun("d", 3)] }),
      boundary(2, { steps: [received(wait)], consumed: [{ seq: 1, stepKey: "k" }], eventSeqSeen: 1 }),
      boundary(2, { steps: [sleeping(2, at(700))], next: suspendUntil(at(700)), eventSeqSeen: 1 }),
      boundary(2, { next: { kind: "suspend", dueAt: at(800), task: "retry" }, eventSeqSeen: 1 }),
      boundary(2, { next: { kind: "yield", dueAt: at(900) } }),
      boundary(2, { steps: [completed(2)], next: complete({ some: "output" }) }),
      boundary(2, { next: errorOut("no more", true) }),
      boundary(2, { next: errorOut("no") }),
      boundary(2, { steps: [sleeping(2, at(700))], next: terminateSelf() }),
    ];
    return boundaries.map((each, n) =>
      commit(leases[n] as Lease, each, { leaseUntil: n % 3 === 0 ? 0 : at(leaseMs + n) }),
    );
  };

  test("rows are the same as those of the long way, whatever is committed", async () => {
    const other = await place.open({ max: 1 });
    await other.migrate();
    const prepare = async (to: MysqlStore): Promise<readonly StoreRequest[]> => {
      const ids = Array.from({ length: 11 }, (_unused, n) => `i${n}`);
      const leases = await leased(to, ids);
      const waits = leases.map((lease) => commit(lease, boundary(1, { steps: [awaiting(1, "x", at(500))] })));
      await to.write(waits, at(0));
      await to.write(
        ids.map((id) => sendEvent(id, `event for ${id}`, "x")),
        at(0),
      );
      const created = [create("new 2"), create("new 1", { history: [completed(1)], retentionMs: 5 })];
      return [...everyCommit(leases), ...created].toReversed();
    };
    const { outcomes, roundTrips } = await written(await prepare(store));
    // The second tells of events that have not been seen.
    expect(roundTrips).toBe(2);
    const expected = await other.write([...(await prepare(other)), longWay], at(1));
    const unnamed = (outcome: StoreOutcome) => ({ ...outcome, runId: null });
    expect([...outcomes, { kind: "ignored" } as const].map(unnamed)).toEqual(expected.map(unnamed));
    expect(await rowsOf(store)).toEqual(await rowsOf(other));
    await other.close();
  });

  test("each kind of commit alone leaves the same rows as well, in one round trip", async () => {
    const other = await place.open({ max: 1 });
    await other.migrate();
    const ids = Array.from({ length: 11 }, (_unused, n) => `i${n}`);
    const prepare = async (to: MysqlStore): Promise<readonly StoreRequest[]> => {
      const leases = await leased(to, ids);
      const waits = leases.map((lease) => commit(lease, boundary(1, { steps: [awaiting(1, "x", at(500))] })));
      await to.write(waits, at(0));
      const sent = [3, 4, 5].map((n) => sendEvent(`i${n}`, `event ${n}`, "x"));
      await to.write(sent, at(0));
      return everyCommit(leases);
    };
    const [here, there] = [await prepare(store), await prepare(other)];
    for (const [n, request] of here.entries()) {
      const { outcomes, roundTrips } = await written([request]);
      const [expected] = await other.write([there[n] as StoreRequest, longWay], at(1));
      expect([n, outcomes[0], roundTrips]).toEqual([n, expected, 1]);
    }
    expect(await rowsOf(store)).toEqual(await rowsOf(other));
    await other.close();
  });

  describe("one that is refused is answered as if it were alone, and its neighbours are applied", () => {
    const step = { steps: [completed(1)] };

    /** The request in question with two others around it. */
    const among = async (request: StoreRequest): Promise<StoreOutcome> => {
      const [one, other] = await leased(store, ["before", "behind"]);
      const { outcomes, kinds } = await written([
        commit(one as Lease, boundary(1, step)),
        request,
        create("created with it"),
        commit(other as Lease, boundary(1, { ...step, next: complete() })),
      ]);
      expect([kinds[0], kinds[2], kinds[3]]).toEqual(["committed", "created", "committed"]);
      for (const lease of [one, other]) expect(await stepsOf(store, lease?.runId as number)).toHaveLength(1);
      expect((await store.getInstance(ref("behind")))?.status).toBe("complete");
      expect(await store.getInstance(ref("created with it"))).toBeDefined();
      return outcomes[1] as StoreOutcome;
    };

    test("a run that was paused keeps the step and stays paused (INV-31)", async () => {
      const [lease] = await leased(store, ["a"]);
      await store.write([pause("a")], at(0));
      const request = commit(lease as Lease, boundary(1, { ...step, next: complete() }));
      expect(await among(request)).toMatchObject({ kind: "paused" });
      expect(await store.getInstance(ref("a"))).toMatchObject({ status: "paused", executing: false });
      expect(await stepsOf(store, lease?.runId as number)).toHaveLength(1);
    });

    test.each([
      ["a token that is not the newest", "superseded", []],
      ["a run that was terminated", "superseded", [terminate("a")]],
      ["a run that another one has followed", "superseded", [restart("a")]],
    ])("%s changes nothing", async (what, kind, before) => {
      const [lease] = (await leased(store, ["a"])) as [Lease];
      if (before.length > 0) await store.write(before, at(0));
      const old = what.startsWith("a token") ? { ...lease, token: lease.token - 1 } : lease;
      expect(await among(commit(old, boundary(1, { ...step, logs: [logLine("x")] })))).toMatchObject({
        kind,
      });
      expect(await stepsOf(store, lease.runId)).toEqual([]);
      expect(await logsOf(store, lease.runId)).toEqual([]);
    });

    test("a run that was removed leaves nothing behind", async () => {
      const [lease] = (await leased(store, ["a"])) as [Lease];
      await erased(store, ref("a"));
      const request = commit(lease, boundary(1, { ...step, next: complete() }));
      expect(await among(request)).toEqual({ kind: "superseded" });
      expect(JSON.stringify(await rowsOf(store))).not.toContain(`"run\\":${lease.runId},`);
    });

    test("a number that was applied is answered and not applied again", async () => {
      const [lease] = (await leased(store, ["a"])) as [Lease];
      const request = commit(lease, boundary(1, { ...step, logs: [logLine("once")] }));
      await store.write([request], at(0));
      expect(await among(request)).toMatchObject({ kind: "committed" });
      expect(await logsOf(store, lease.runId)).toHaveLength(1);
    });

    test("a number that is not the next is not applied", async () => {
      const [lease] = (await leased(store, ["a"])) as [Lease];
      expect(await among(commit(lease, boundary(2, step)))).toEqual({ kind: "superseded" });
      expect(await stepsOf(store, lease.runId)).toEqual([]);
    });

    test("a wait whose event has come meanwhile is due at once (INV-23)", async () => {
      const [lease] = (await leased(store, ["a"])) as [Lease];
      await store.write([sendEvent("a", "e", "x")], at(0));
      const wait = boundary(1, { steps: [awaiting(1, "x", never)], next: suspendUntil(never) });
      expect(await among(commit(lease, wait))).toMatchObject({
        kind: "committed",
        eventSeq: 1,
        dueNow: true,
      });
      expect((await store.getInstance(ref("a")))?.dueAt).toBe(at(1));
    });

    test("an instance that is there is reported and left alone", async () => {
      await leased(store, ["a"]);
      const before = await store.getInstance(ref("a"));
      expect(await among(create("a"))).toEqual({ kind: "exists", status: "active", runNumber: 1 });
      expect(await store.getInstance(ref("a"))).toEqual(before);
    });

    test("a step that was waiting is replaced, though nothing about it says that it did", async () => {
      const [lease] = (await leased(store, ["a"])) as [Lease];
      const waiting = sleeping(1, at(5), { type: "do", waitsFor: "retry" });
      await store.write([commit(lease, boundary(1, { steps: [waiting] }))], at(0));
      expect(await among(commit(lease, boundary(2, step)))).toMatchObject({ kind: "committed" });
      expect(await stepsOf(store, lease.runId)).toEqual([completed(1)]);
    });
  });

  test("nothing of a wait is left in the row of the step it becomes", async () => {
    const [lease] = (await leased(store, ["a"])) as [Lease];
    const wait = sleeping(1, at(5), { type: "waitForEvent", waitsFor: "event", topic: "t", parentKey: "p" });
    await store.write([commit(lease, boundary(1, { steps: [wait] }))], at(0));
    await store.write([commit(lease, boundary(2, { steps: [completed(1)] }))], at(0));
    const table = `${place.namespaceOf(store)}_step`;
    const rows = await place.query(
      `SELECT status, is_open, topic, parent_key, waits_for, wake_at, event_type FROM ${table} WHERE run = ?`,
      [lease.runId],
    );
    const none = { topic: null, parent_key: null, waits_for: null, wake_at: null, event_type: null };
    expect(rows).toEqual([{ status: "completed", is_open: 0, ...none }]);
  });

  test("a commit that goes on is told of events its turn has not seen, one round trip later", async () => {
    const [a, b] = (await leased(store, ["a", "b"])) as [Lease, Lease];
    await store.write([sendEvent("a", "e1", "x"), sendEvent("a", "e2", "x")], at(0));
    const both = (number: number, eventSeqSeen: number) => [
      commit(a, boundary(number, { eventSeqSeen })),
      commit(b, boundary(number)),
    ];
    const first = await written(both(1, 0));
    expect(first.outcomes).toMatchObject([{ eventSeq: 2 }, { eventSeq: 0 }]);
    expect(first.roundTrips).toBe(2);
    const second = await written(both(2, 2));
    expect(second.outcomes).toMatchObject([{ eventSeq: 2 }, { eventSeq: 0 }]);
    expect(second.roundTrips).toBe(1);
    expect(await eventsOf(store, a.runId)).toHaveLength(2);
  });

  test("two batches of the same runs at once: each commit is applied by one of them", async () => {
    const wide = place.reopen(store, { max: 4 });
    const leases = await leased(wide, ["a", "b", "c", "d"]);
    const batch = () => leases.map((lease) => commit(lease, boundary(1, { logs: [logLine("once")] })));
    const outcomes = await Promise.all(
      [1, 2, 3, 4].map((n) => wide.write(n % 2 ? batch() : batch().reverse(), at(1))),
    );
    expect(outcomes.flat().every(({ kind }) => kind === "committed")).toBe(true);
    for (const { runId } of leases) expect(await logsOf(wide, runId)).toHaveLength(1);
    await wide.close();
  });
});
