import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { postgresPlace, postgresUrl } from "../../../../../tests/support/postgres-place.ts";
import { startWire, type Wire } from "../../../../../tests/support/postgres-wire.ts";
import type { StoreRequest } from "../../store/store.ts";
import { started, suspended } from "../../testing/store-contract/acts.ts";
import {
  at,
  awaiting,
  boundary,
  claimRequest,
  commit,
  complete,
  completed,
  create,
  logLine,
  never,
  pause,
  publish,
  ref,
  sendEvent,
  suspendUntil,
  workflow,
} from "../../testing/store-contract/given.ts";
import type { PostgresStore } from "./index.ts";

describe.skipIf(postgresUrl === undefined)(
  "round trips to PostgreSQL (set EVERSTEP_POSTGRES_URL to run these)",
  () => {
    const place = postgresPlace();
    let wire: Wire;
    let store: PostgresStore;
    beforeAll(async () => {
      wire = await startWire(postgresUrl as string);
    });
    afterAll(async () => {
      await wire.close();
      await place.clear();
    });
    beforeEach(async () => {
      store = place.open({ url: wire.url, max: 1 });
      await store.migrate();
      // Connects, and takes a block of ids.
      await store.write(
        [create("first", { workflowName: "other", lease: { owner: "me", until: never } })],
        at(0),
      );
      await store.renew(
        [{ lease: { runId: 1, token: 9, owner: "me", expiresAt: 0 }, begun: [] }],
        at(1),
        at(0),
      );
    });
    afterEach(() => store.close());

    const counted = async (act: () => Promise<unknown>): Promise<number> => {
      const before = wire.roundTrips;
      await act();
      return wire.roundTrips - before;
    };
    /** What is told to other processes goes out behind the answer, on the one connection there is. */
    const othersAreTold = async (): Promise<void> => {
      for (let n = 0; n < 3; n += 1) await store.nextDueAt([workflow]);
    };
    const write = (...requests: StoreRequest[]): Promise<number> =>
      counted(() => store.write(requests, at(5)));

    test("a commit is one, whatever it carries", async () => {
      const { lease } = await started(store, "a");
      const step = boundary(1, { steps: [completed(1)], logs: [logLine("x")] });
      expect(await write(commit(lease, step))).toBe(1);
      const last = boundary(2, { steps: [completed(2)], logs: [logLine("y")], next: complete() });
      expect(await write(commit(lease, last))).toBe(1);
      const b = await started(store, "b");
      const wait = boundary(1, { steps: [awaiting(1, "x", never)], next: suspendUntil(never) });
      expect(await write(commit(b.lease, wait))).toBe(1);
    });

    test("a hundred commits and creations in one write are one", async () => {
      const leased = { owner: "me", until: never };
      const ids = Array.from({ length: 100 }, (_unused, n) => `i${n}`);
      const creations = ids.map((id) => create(id, { lease: leased }));
      const outcomes = await store.write(creations, at(0));
      const commits = outcomes.map((outcome) => {
        if (outcome.kind !== "created" || outcome.claim === null) throw new Error("not leased");
        return commit(outcome.claim.lease, boundary(1, { steps: [completed(1)], next: complete() }));
      });
      const more = ids.map((id) => create(`more ${id}`, { lease: leased }));
      expect(await write(...commits, ...more)).toBe(1);
      expect((await store.countByStatus(workflow)).complete).toBe(100);
    });

    test("any other batch is two", async () => {
      await suspended(store, "a", [awaiting(1, "x", never)], never);
      const { lease } = await started(store, "b");
      expect(await write(pause("b"), commit(lease, boundary(1)))).toBe(2);
      const many = Array.from({ length: 30 }, (_unused, n) => sendEvent("a", `e${n}`, "x"));
      // One more tells the other processes.
      expect(await write(...many, publish("p", "news"), create("c"))).toBeGreaterThanOrEqual(2);
    });

    test("an event is one and a nudge, and so are events for many instances", async () => {
      const ids = ["a", "b", "c"];
      for (const id of ids) await suspended(store, id, [awaiting(1, "x", never)], never);
      await othersAreTold();
      expect(await write(sendEvent("a", "e1", "x"))).toBeLessThanOrEqual(2);
      await othersAreTold();
      expect(await write(...ids.map((id) => sendEvent(id, `e2 ${id}`, "x")))).toBeLessThanOrEqual(2);
      await othersAreTold();
      // One that is not plainly accepted costs two more.
      expect(await write(sendEvent("nobody", "e3", "x"))).toBe(3);
    });

    test("a commit that is not to be applied costs one look more", async () => {
      const { lease } = await started(store, "a");
      const late = commit({ ...lease, token: 7 }, boundary(1));
      expect(await write(late)).toBe(3);
    });

    test("a claim is one, with or without a cap, and so is one that finds nothing", async () => {
      await store.write([create("a", { lease: null }), create("b")], at(0));
      await othersAreTold();
      const claim = (concurrency: number | null, limit: number) =>
        counted(() =>
          store.claim(claimRequest({ now: at(1), limit, workflows: [{ name: workflow, concurrency }] })),
        );
      expect(await claim(null, 1)).toBe(1);
      expect(await claim(5, 1)).toBe(1);
      expect(await claim(null, 10)).toBe(1);
      expect(await claim(5, 10)).toBe(1);
    });

    test("renewing and reading many runs are one each, releasing is one and a nudge", async () => {
      const claims = [];
      for (const id of ["a", "b", "c"]) claims.push(await started(store, id));
      const leases = claims.map(({ lease }) => lease);
      const reads = leases.map(({ runId }) => ({ runId, steps: true, eventsAfter: 0 }));
      expect(await counted(() => store.readRuns(reads))).toBe(1);
      expect(
        await counted(() =>
          store.renew(
            leases.map((lease) => ({ lease, begun: [] })),
            never,
            at(1),
          ),
        ),
      ).toBe(1);
      expect(await counted(() => store.getInstances([ref("a"), ref("b"), ref("nobody")]))).toBe(1);
      expect(await counted(() => store.getStatuses([ref("a"), ref("b"), ref("nobody")]))).toBe(1);
      expect(await counted(() => store.listInstances({ limit: 10 }))).toBe(1);
      expect(await counted(() => store.getInstance(ref("a")))).toBe(1);
      // At the end: nobody waits for the nudge, which may come a moment later.
      expect(await counted(() => store.release(leases, at(1)))).toBeLessThanOrEqual(2);
    });
  },
);
