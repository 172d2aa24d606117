import mysql2 from "mysql2";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { mysqlPlace, mysqlUrl } from "../../../../../tests/support/mysql-place.ts";
import type { Lease } from "../../model/lease.ts";
import { claimIds, claimOne, started, suspended } from "../../testing/store-contract/acts.ts";
import {
  at,
  awaiting,
  boundary,
  claimRequest,
  commit,
  complete,
  completed,
  create,
  never,
  pause,
  publish,
  ref,
  sendEvent,
  suspendUntil,
  workflow,
} from "../../testing/store-contract/given.ts";
import type { MysqlStore } from "./index.ts";

describe.skipIf(mysqlUrl === undefined)("on a server", () => {
  const place = mysqlPlace();
  const sent = vi.spyOn(
    (mysql2 as unknown as { Connection: { prototype: { query: () => void } } }).Connection.prototype,
    "query",
  );
  let store: MysqlStore;
  beforeAll(async () => {
    await place.create();
    store = await place.open({ clock: "store", max: 1 });
    await store.migrate();
    // Connections are open and ids set aside.
    const { lease } = await started(store, "first");
    await store.renew([{ lease, begun: [] }], at(90_000), at(0));
  });
  afterAll(async () => {
    sent.mockRestore();
    await store.close();
    await place.drop();
  });

  const roundTrips = async (act: () => Promise<unknown>): Promise<number> => {
    sent.mockClear();
    await act();
    return sent.mock.calls.length;
  };

  test("a write of anything else is two: lock and read, then write and commit", async () => {
    const { lease } = await started(store, "a");
    await suspended(store, "b", [awaiting(1, "x", never)], never);
    const requests = [
      create("c"),
      commit(lease, boundary(1, { steps: [completed(1)], next: complete() })),
      sendEvent("b", "e1", "x"),
      publish("p1", "news"),
      pause("b"),
    ];
    expect(await roundTrips(() => store.write(requests, at(1)))).toBe(2);
  });

  const manyLeases = async (workflowName: string): Promise<readonly Lease[]> => {
    const ids = Array.from({ length: 100 }, (_unused, n) => `${workflowName} ${n}`);
    await store.write(
      ids.map((id) => create(id, { workflowName })),
      at(0),
    );
    const claims = await store.claim(
      claimRequest({ now: at(0), workflows: [{ name: workflowName, concurrency: null }] }),
    );
    expect(claims).toHaveLength(100);
    return claims.map(({ lease }) => lease);
  };

  test("commits and creations are one, however many", async () => {
    const leases = await manyLeases("many");
    const going = leases.map((lease) => commit(lease, boundary(1, { steps: [completed(1)] })));
    expect(await roundTrips(() => store.write(going, at(1)))).toBe(1);
    const [one, ...others] = leases;
    const suspending = others.map((lease) =>
      commit(lease, boundary(2, { steps: [awaiting(2, "x", never)], next: suspendUntil(never) })),
    );
    const created = Array.from({ length: 5 }, (_unused, n) => create(`one more ${n}`));
    expect(await roundTrips(() => store.write([...suspending, ...created], at(2)))).toBe(1);
    const ending = commit(one as Lease, boundary(2, { next: complete() }));
    expect(await roundTrips(() => store.write([ending], at(3)))).toBe(1);
  });

  test("an event is one, and two more when it cannot simply be accepted", async () => {
    await suspended(store, "awaits", [awaiting(1, "x", never)], never);
    expect(await roundTrips(() => store.write([sendEvent("awaits", "awaited", "x")], at(1)))).toBe(1);
    const [again] = await store.write([sendEvent("awaits", "awaited", "x")], at(1));
    expect(again).toMatchObject({ kind: "accepted", duplicate: true });
    expect(await roundTrips(() => store.write([sendEvent("nobody", "lost", "x")], at(1)))).toBe(3);
  });

  test("with one that is refused among them, all go the long way: two more, and one to take back", async () => {
    const [paused, ...others] = await manyLeases("some");
    await store.write([{ ...pause("some 0"), workflowName: "some" }], at(1));
    const commits = [paused as Lease, ...others].map((lease) =>
      commit(lease, boundary(1, { steps: [completed(1)] })),
    );
    expect(await roundTrips(() => store.write(commits, at(1)))).toBe(4);
  });

  test("a claim that finds something is two when there is reason to expect it, and one more after a quiet time", async () => {
    const other = place.reopen(store, { max: 1 });
    await store.write([create("d1"), create("d2")], at(0));
    expect(await roundTrips(() => claimIds(store, at(2)))).toBe(2);
    await other.write([create("d3")], at(0));
    expect(await roundTrips(() => claimOne(store, "d3", at(2)))).toBe(2);
    await claimIds(store, at(2));
    await other.write([create("d4")], at(0));
    expect(await roundTrips(() => claimOne(store, "d4", at(2)))).toBe(3);
    await other.close();
  });

  test("an idle claim is one, which locks nothing", async () => {
    const idle = claimRequest({ now: at(3), workflows: [{ name: "quiet", concurrency: 2 }] });
    await store.claim(idle);
    expect(await roundTrips(() => store.claim(idle))).toBe(1);
    expect(JSON.stringify(sent.mock.calls)).not.toMatch(/FOR UPDATE|INSERT/);
  });

  test("a claim does not queue for a cap that is used up", async () => {
    const capped = (now: number) =>
      claimRequest({ now: at(now), workflows: [{ name: "capped", concurrency: 1 }] });
    await store.write(
      [create("x", { workflowName: "capped" }), create("y", { workflowName: "capped" })],
      at(0),
    );
    expect(await store.claim(capped(4))).toHaveLength(1);
    await store.claim(capped(4));
    expect(await roundTrips(() => store.claim(capped(4)))).toBe(1);
  });

  test("everything else is one", async () => {
    const { lease } = await started(store, "z");
    const read = [{ runId: lease.runId, steps: true, eventsAfter: 0 }];
    const acts: Record<string, () => Promise<unknown>> = {
      readRuns: () => store.readRuns(read),
      renew: () => store.renew([{ lease, begun: [] }], at(99_000), at(5)),
      release: () => store.release([lease], at(5)),
      getInstance: () => store.getInstance(ref("z")),
      getInstances: () => store.getInstances([ref("z"), ref("nobody")]),
      listInstances: () => store.listInstances({ limit: 5, workflowName: workflow }),
      listRuns: () => store.listRuns(ref("z"), 5),
      listSteps: () => store.listSteps(lease.runId, { limit: 5 }),
      listEvents: () => store.listEvents(lease.runId, { limit: 5 }),
      listLogs: () => store.listLogs(lease.runId, { limit: 5 }),
      listWaiters: () => store.listWaiters("news", { limit: 5 }),
      countByStatus: () => store.countByStatus(),
      nextDueAt: () => store.nextDueAt([workflow]),
      serverTime: () => store.serverTime?.() ?? Promise.resolve(),
      warnings: () => store.warnings(),
    };
    const counts: Record<string, number> = {};
    for (const [name, act] of Object.entries(acts)) counts[name] = await roundTrips(act);
    expect(counts).toEqual(Object.fromEntries(Object.keys(acts).map((name) => [name, 1])));
  });

  test("a list over all workflows is two: their names, then the page", async () => {
    expect(await roundTrips(() => store.listInstances({ limit: 5 }))).toBe(2);
  });
});
