import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgresPlace, postgresUrl } from "../../../../../tests/support/postgres-place.ts";
import { inputNotGiven } from "../../model/instance.ts";
import type { Lease } from "../../model/lease.ts";
import type { StoreRequest } from "../../store/store.ts";
import { erased, started } from "../../testing/store-contract/acts.ts";
import {
  at,
  awaiting,
  boundary,
  claimRequest,
  commit,
  complete,
  completed,
  deletion,
  errorOut,
  never,
  pause,
  ref,
  restart,
  resume,
  sendEvent,
  suspendUntil,
  terminate,
  workflow,
} from "../../testing/store-contract/given.ts";
import type { PostgresStore } from "./index.ts";

/** What one process may do to runs, while another does something else to the same ones. */
type Act = (store: PostgresStore, ids: readonly string[], leases: readonly Lease[]) => Promise<unknown>;

const now = at(5);
let events = 0;

function commits(next: Parameters<typeof boundary>[1]): Act {
  return (store, _ids, leases) =>
    store.write(
      leases.map((lease) => commit(lease, boundary(1, { steps: [completed(1)], ...next }))),
      now,
    );
}

function requests(of: (id: string) => StoreRequest): Act {
  return (store, ids) => store.write(ids.map(of), now);
}

const acts: Readonly<Record<string, Act>> = {
  complete: commits({ next: complete() }),
  fail: commits({ next: errorOut("no") }),
  suspend: commits({ steps: [awaiting(1, "x", never)], next: suspendUntil(never) }),
  event: requests((id) => {
    events += 1;
    return sendEvent(id, `e${events}`, "x");
  }),
  pause: requests(pause),
  resume: requests((id) => resume(id, true)),
  terminate: requests(terminate),
  restart: requests((id) => restart(id)),
  delete: requests((id) => deletion(ref(id))),
  renew: (store, _ids, leases) =>
    store.renew(
      leases.map((lease) => ({ lease, begun: [] })),
      at(60_000),
      now,
    ),
  release: (store, _ids, leases) => store.release(leases, now),
  claim: (store) => store.claim(claimRequest({ now: at(40_000), limit: 3 })),
  cappedClaim: (store) =>
    store.claim(claimRequest({ now: at(40_000), limit: 3, workflows: [{ name: workflow, concurrency: 2 }] })),
  prune: (store) => store.prune({ before: now, limit: 100 }),
};

const names = Object.keys(acts);
const pairs = names.flatMap((one, n) => names.slice(n).map((other) => [one, other] as const));

describe.skipIf(postgresUrl === undefined)(
  "two processes at the same runs of PostgreSQL (set EVERSTEP_POSTGRES_URL to run these)",
  () => {
    const place = postgresPlace();
    const rounds = 3;
    const size = 4;
    let one: PostgresStore;
    let two: PostgresStore;
    let made = 0;
    beforeAll(async () => {
      one = place.open({ max: 3, lockTimeoutMs: 10_000 });
      await one.migrate();
      two = place.reopen(one, { max: 3, lockTimeoutMs: 10_000 });
    });
    afterAll(async () => {
      await one.close();
      await two.close();
      await place.clear();
    });

    test.each(pairs)(
      "%s and %s: neither waits for ever, and what is left makes sense (R-067)",
      async (a, b) => {
        for (let round = 0; round < rounds; round += 1) {
          const ids = Array.from({ length: size }, () => {
            made += 1;
            return `i${made}`;
          });
          const leases: Lease[] = [];
          for (const id of ids) leases.push((await started(one, id, { retentionMs: 0 })).lease);
          // In opposite orders, so that locks taken as they come would make a circle.
          await Promise.all([
            (acts[a] as Act)(one, ids, leases),
            (acts[b] as Act)(two, ids.toReversed(), leases.toReversed()),
          ]);
          await checkRuns(ids);
          await checkOrphans(ids, leases);
          for (const id of ids) await erased(one, ref(id));
        }
      },
    );

    /** What no order of two requests can explain. */
    async function checkRuns(ids: readonly string[]): Promise<void> {
      for (const id of ids) {
        const runs = await one.listRuns(ref(id), 10);
        for (const [n, run] of runs.entries()) {
          const isOver = ["complete", "errored", "terminated"].includes(run.status);
          if (n > 0) expect(isOver).toBe(true);
          expect(run.completedAt !== null).toBe(isOver);
          if (isOver) expect([run.executing, run.dueAt]).toEqual([false, null]);
          else if (run.status !== "paused") expect(run.dueAt).not.toBeNull();
          if (run.status === "complete") expect((await stepsOf(run.runId)).length).toBe(1);
          const sent = (await one.listEvents(run.runId, { limit: 10 })).items;
          expect(sent.map(({ seq }) => seq)).toEqual(sent.map((_event, place) => place + 1));
          const isWaitedFor = run.status === "waiting" && sent.some((event) => event.deliveredAt === null);
          // An event and the wait for it never miss each other (INV-23).
          if (isWaitedFor) expect(run.dueAt).toBeLessThanOrEqual(now);
        }
      }
    }

    /** Of an instance that was deleted nothing is left, whatever came for it meanwhile. */
    async function checkOrphans(ids: readonly string[], leases: readonly Lease[]): Promise<void> {
      for (const [n, id] of ids.entries()) {
        if ((await one.getInstance(ref(id))) !== undefined) continue;
        const { runId } = leases[n] as Lease;
        expect(await stepsOf(runId)).toEqual([]);
        expect((await one.listEvents(runId, { limit: 10 })).items).toEqual([]);
        expect((await one.listLogs(runId, { limit: 10 })).items).toEqual([]);
        expect(await one.readRuns([{ runId, steps: true, eventsAfter: 0 }])).toEqual([]);
      }
    }

    async function stepsOf(runId: Lease["runId"]) {
      return (await one.listSteps(runId, { limit: 10 })).items;
    }

    test("a cap holds however many processes claim at once", async () => {
      const stores = [one, two, place.reopen(one), place.reopen(one)];
      const cap = 5;
      await one.write(
        Array.from({ length: 40 }, (_unused, n) => createIn("capped", `c${n}`)),
        at(0),
      );
      const request = claimRequest({
        now: at(1),
        limit: 4,
        leaseUntil: never,
        workflows: [{ name: "capped", concurrency: cap }],
      });
      const claims = await Promise.all(
        Array.from({ length: 16 }, (_unused, n) => (stores[n % 4] as PostgresStore).claim(request)),
      );
      expect(claims.flat()).toHaveLength(cap);
      await Promise.all(stores.slice(2).map((store) => store.close()));
    });

    /** A transaction of somebody's own that holds the oldest runs of a workflow until `act` is done. */
    async function whileLocked(name: string, count: number, act: () => Promise<void>): Promise<void> {
      const client = await place.client();
      await client.query("BEGIN");
      const held = await client.query(
        `SELECT id FROM "${place.namespaceOf(one)}".run WHERE workflow = $1 ORDER BY due_at, id LIMIT $2 FOR UPDATE`,
        [name, count],
      );
      expect((held as { rows: unknown[] }).rows).toHaveLength(count);
      await act().finally(async () => {
        await client.query("ROLLBACK");
        client.release();
      });
    }

    const claimedIds = async (
      workflows: Readonly<Record<string, number | null>>,
      limit: number,
    ): Promise<readonly string[]> => {
      const named = Object.entries(workflows).map(([name, concurrency]) => ({ name, concurrency }));
      const claims = await one.claim(
        claimRequest({ now: at(1), limit, leaseUntil: never, workflows: named }),
      );
      return claims.map(({ instanceId }) => instanceId);
    };

    test.each([
      ["without a cap", null, null],
      ["with a cap", 30, null],
      ["beside one with a cap", null, 30],
    ])(
      "a workflow whose due runs somebody's open transaction holds, %s, is in no other's way",
      async (how, bulkCap, otherCap) => {
        const [bulk, other] = [`bulk ${how}`, `other ${how}`];
        await one.write(
          Array.from({ length: 200 }, (_unused, n) => createIn(bulk, `b${n}`)),
          at(0),
        );
        await one.write([createIn(other, "o")], at(0));
        await whileLocked(bulk, 200, async () =>
          expect(await claimedIds({ [bulk]: bulkCap, [other]: otherCap }, 8)).toEqual(["o"]),
        );
        expect(await claimedIds({ [bulk]: bulkCap, [other]: otherCap }, 8)).toHaveLength(8);
      },
    );

    test.each([
      ["without a cap", null, 8],
      ["with a cap", 3, 3],
    ])("runs behind many that an open transaction holds are found, %s", async (how, cap, count) => {
      const name = `behind ${how}`;
      await one.write(
        Array.from({ length: 400 }, (_unused, n) => createIn(name, `n${n}`)),
        at(0),
      );
      await whileLocked(name, 300, async () => {
        const expected = Array.from({ length: count }, (_unused, n) => `n${300 + n}`);
        expect(await claimedIds({ [name]: cap }, 8)).toEqual(expected);
      });
    });

    test("many processes that claim at once share what is due, and nothing is handed out twice", async () => {
      await one.write(
        Array.from({ length: 60 }, (_unused, n) => createIn("shared", `s${n}`)),
        at(0),
      );
      const request = claimRequest({
        now: at(1),
        limit: 10,
        leaseUntil: never,
        workflows: [{ name: "shared", concurrency: null }],
      });
      const seen: string[] = [];
      for (let round = 0; round < 20 && seen.length < 60; round += 1) {
        const claims = await Promise.all([one, two, one, two].map((store) => store.claim(request)));
        seen.push(...claims.flat().map(({ instanceId }) => instanceId));
        // What somebody else was holding just then is still due, and says so.
        if (seen.length < 60) expect(await one.nextDueAt(["shared"])).toBeLessThanOrEqual(at(1));
      }
      expect(seen.toSorted()).toEqual(Array.from({ length: 60 }, (_unused, n) => `s${n}`).toSorted());
    });
  },
);

function createIn(workflowName: string, instanceId: string): StoreRequest {
  return {
    ...inputNotGiven,
    kind: "create",
    workflowName,
    instanceId,
    params: { json: "null", marks: null },
    createdAt: at(0),
    dueAt: at(0),
    history: [],
    lease: null,
  };
}
