import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mysqlPlace, mysqlUrl } from "../../../../../tests/support/mysql-place.ts";
import { isTerminal } from "../../model/instance.ts";
import type { Lease } from "../../model/lease.ts";
import type { Store } from "../../store/store.ts";
import { erased, everyPage, write } from "../../testing/store-contract/acts.ts";
import {
  at,
  awaiting,
  boundary,
  claimRequest,
  commit,
  complete,
  completed,
  create,
  deletion,
  leaseMs,
  never,
  pause,
  ref,
  restart,
  sendEvent,
  suspendUntil,
  terminate,
  workflow,
} from "../../testing/store-contract/given.ts";
import type { MysqlStore } from "./index.ts";

interface Race {
  readonly id: string;
  readonly lease: Lease;
}

type Verb = (store: Store, race: Race) => Promise<{ readonly kind: string }>;

const verbs: Readonly<Record<string, Verb>> = {
  complete: (store, { lease }) =>
    write(store, commit(lease, boundary(1, { steps: [completed(1)], next: complete() })), at(1)),
  suspend: (store, { lease }) =>
    write(
      store,
      commit(lease, boundary(1, { steps: [awaiting(1, "x", never)], next: suspendUntil(never) })),
      at(1),
    ),
  event: (store, { id }) => write(store, sendEvent(id, `event for ${id}`, "x"), at(1)),
  pause: (store, { id }) => write(store, pause(id), at(1)),
  terminate: (store, { id }) => write(store, terminate(id), at(1)),
  restart: (store, { id }) => write(store, restart(id), at(1)),
  delete: (store, { id }) => write(store, deletion(ref(id)), at(1)),
  async renew(store, { lease }) {
    const [answer] = await store.renew([{ lease, begun: [] }], at(leaseMs * 5), at(1));
    return answer as { kind: string };
  },
  async claim(store) {
    // As if the lease had run out.
    const claims = await store.claim(claimRequest({ now: at(leaseMs * 2), limit: 1000 }));
    return { kind: `claimed ${claims.length}` };
  },
};

const names = Object.keys(verbs);
const pairs = names.flatMap((one, n) => names.slice(n).map((other) => [one, other] as const));
const rounds = 12;

describe.skipIf(mysqlUrl === undefined)("on a server", () => {
  const place = mysqlPlace();
  let here: MysqlStore;
  let there: MysqlStore;
  beforeAll(async () => {
    await place.create();
    here = await place.open({ max: 8 });
    there = place.reopen(here, { max: 8 });
    await here.migrate();
  });
  afterAll(async () => {
    await here.close();
    await there.close();
    await place.drop();
  });

  test.each(pairs)(
    "%s and %s at the same moment: one after the other, whoever is first (R-067, INV-35)",
    async (one, other) => {
      const races: Race[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const id = `${one} ${other} ${round}`;
        const outcome = await write(here, create(id, { lease: { owner: "first", until: at(leaseMs) } }));
        if (outcome.kind !== "created" || outcome.claim === null)
          throw new Error("should be created and leased");
        races.push({ id, lease: outcome.claim.lease });
      }
      await Promise.all(
        races.flatMap((race) => {
          const run = async () => {
            const [first, second] = await Promise.all([
              verbs[one]?.(here, race),
              verbs[other]?.(there, race),
            ]);
            await inspect(race, { [one]: first?.kind, ...(one === other ? {} : { [other]: second?.kind }) });
          };
          return [run()];
        }),
      );
      for (const { id } of races) await erased(here, ref(id));
    },
  );

  const inspect = async (
    { id, lease }: Race,
    kinds: Readonly<Record<string, string | undefined>>,
  ): Promise<void> => {
    const record = await here.getInstance(ref(id));
    if (record === undefined) {
      expect(kinds.delete).toMatch(/deleted|not-found/);
      // Nothing is left, whatever came for it meanwhile.
      expect((await here.listSteps(lease.runId, { limit: 10 })).items).toEqual([]);
      expect((await here.listEvents(lease.runId, { limit: 10 })).items).toEqual([]);
      expect(await here.readRuns([{ runId: lease.runId, steps: true, eventsAfter: 0 }])).toEqual([]);
      return;
    }
    const { status, runNumber, dueAt, executing, runId } = record;
    if (isTerminal(status)) expect([dueAt, executing]).toEqual([null, false]);
    expect(runNumber).toBe((await here.listRuns(ref(id), 10)).length);
    if (kinds.complete === "committed" && kinds.terminate !== undefined)
      expect(kinds.terminate).toBe("refused");
    if (kinds.suspend === "committed" && kinds.event === "accepted" && status === "waiting") {
      // No wake-up is lost, whichever came first (INV-23).
      expect(dueAt).toBe(at(1));
    }
    if (kinds.event === "accepted") {
      const events = await Promise.all(
        (await here.listRuns(ref(id), 10)).map((run) =>
          everyPage((query) => here.listEvents(run.runId, query), 10),
        ),
      );
      expect(events.flat()).toHaveLength(1);
    }
    expect((await here.listSteps(runId, { limit: 10 })).items.length).toBeLessThan(2);
  };

  test("batches over the same runs in opposite orders never fail each other", async () => {
    const ids = Array.from({ length: 30 }, (_unused, n) => `batch ${n}`);
    const created = await here.write(
      ids.map((id) => create(id, { lease: { owner: "first", until: at(leaseMs) } })),
      at(0),
    );
    const leases = created.map(
      (outcome) => (outcome.kind === "created" ? outcome.claim?.lease : undefined) as Lease,
    );
    for (let number = 1; number <= 10; number += 1) {
      const events = (by: string) => ids.map((id) => sendEvent(id, `${by} ${number} ${id}`, "x"));
      const commits = leases.map((lease) => commit(lease, boundary(number, { steps: [completed(number)] })));
      const [a, b, c] = await Promise.all([
        here.write([...commits, ...events("here")], at(number)),
        there.write(events("there").reverse(), at(number)),
        there.renew(leases.map((lease) => ({ lease, begun: [] })).reverse(), at(leaseMs * 9), at(number)),
      ]);
      expect(new Set([...a, ...b, ...c].map(({ kind }) => kind))).toEqual(
        new Set(["committed", "accepted", "renewed"]),
      );
    }
    for (const id of ids) expect((await here.getInstance(ref(id)))?.status).toBe("active");
  });

  test("the same ids created by all at once are created once each (INV-36)", async () => {
    const ids = Array.from({ length: 20 }, (_unused, n) => `same ${n}`);
    const all = await Promise.all(
      [here, there, here, there, here, there].map((store, n) => {
        const requests = ids.map((id) => create(id));
        return store.write(n % 2 === 0 ? requests : requests.reverse(), at(0));
      }),
    );
    expect(all.flat().filter(({ kind }) => kind === "created")).toHaveLength(ids.length);
  });

  test("concurrent claims hand out every run once and stay within the cap (INV-1)", async () => {
    const name = "capped";
    const ids = Array.from({ length: 60 }, (_unused, n) => `c${n}`);
    await here.write(
      ids.map((id) => create(id, { workflowName: name })),
      at(0),
    );
    const claim = (store: Store, owner: string) =>
      store.claim(claimRequest({ owner, now: at(1), limit: 7, workflows: [{ name, concurrency: 25 }] }));
    const claims = await Promise.all(
      Array.from({ length: 12 }, (_unused, n) => claim(n % 2 === 0 ? here : there, `owner ${n}`)),
    );
    const taken = claims.flat().map(({ instanceId }) => instanceId);
    expect(new Set(taken).size).toBe(taken.length);
    expect(taken).toHaveLength(25);
  });

  /** As a process leaves it that stops between the two trips of its claim. */
  const whileClaimed = async (name: string, act: () => Promise<void>): Promise<void> => {
    const stopped = await place.connect();
    await stopped.query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION");
    await stopped.query(
      `INSERT INTO ${place.namespaceOf(here)}_meta (name, value) VALUES (CONCAT('cap ', SHA1(?)), 0)
       ON DUPLICATE KEY UPDATE value = value + 1`,
      [name],
    );
    await act().finally(async () => {
      await stopped.query("ROLLBACK");
      await stopped.end();
    });
  };

  test("a process that stopped while it claimed of a workflow with a cap is in no other workflow's way", async () => {
    const [capped, free] = ["capped 2", "free 2"];
    const workflows = [
      { name: capped, concurrency: 5 },
      { name: free, concurrency: null },
    ];
    const claimed = async () =>
      (await here.claim(claimRequest({ now: at(1), workflows }))).map(({ instanceId }) => instanceId);
    await write(here, create("c0", { workflowName: capped }), at(0));
    await write(here, create("f0", { workflowName: free }), at(0));
    expect(await claimed()).toEqual(["c0", "f0"]);
    await write(here, create("c1", { workflowName: capped }), at(0));
    await whileClaimed(capped, async () => {
      await write(here, create("f1", { workflowName: free }), at(0));
      expect(await claimed()).toEqual(["f1"]);
      expect(await claimed()).toEqual([]);
      await write(here, create("f2", { workflowName: free }), at(0));
      expect(await claimed()).toEqual(["f2"]);
    });
    expect(await claimed()).toEqual(["c1"]);
  });

  test("two processes that claim of one workflow with a cap again and again both get some", async () => {
    const name = "contended";
    const count = 200;
    for (let n = 0; n < count; n += 50) {
      const ids = Array.from({ length: 50 }, (_unused, k) => `t${n + k}`);
      await here.write(
        ids.map((id) => create(id, { workflowName: name })),
        at(0),
      );
    }
    const shares = { here: 0, there: 0 };
    const claimAll = async (store: Store, whose: keyof typeof shares) => {
      for (let empty = 0; empty < 3; ) {
        const workflows = [{ name, concurrency: count }];
        const claims = await store.claim(claimRequest({ owner: whose, now: at(1), limit: 2, workflows }));
        shares[whose] += claims.length;
        empty = claims.length === 0 ? empty + 1 : 0;
      }
    };
    await Promise.all([claimAll(here, "here"), claimAll(there, "there")]);
    expect(shares.here + shares.there).toBe(count);
    expect(Math.min(shares.here, shares.there), JSON.stringify(shares)).toBeGreaterThan(2);
  });

  test("every claim under a cap writes its row, because a node of Galera sees no locks of another", async () => {
    const workflows = [{ name: "watched", concurrency: 1 }];
    const sql = `SELECT value FROM ${place.namespaceOf(here)}_meta WHERE name = CONCAT('cap ', SHA1('watched'))`;
    const marks = async (): Promise<number> => Number((await place.query(sql))[0]?.value);
    await here.write([create("w1", { workflowName: "watched" })], at(0));
    expect(await here.claim(claimRequest({ now: at(1), workflows }))).toHaveLength(1);
    const before = await marks();
    await there.claim(claimRequest({ now: at(1) + leaseMs, workflows }));
    expect(await marks()).toBe(before + 1);
  });

  test("concurrent claims without a cap share what is due, and leave nothing", async () => {
    const name = "shared";
    const ids = Array.from({ length: 100 }, (_unused, n) => `s${n}`);
    await here.write(
      ids.map((id) => create(id, { workflowName: name })),
      at(0),
    );
    const taken: string[] = [];
    for (let round = 0; round < 20 && taken.length < ids.length; round += 1) {
      const claims = await Promise.all(
        [here, there, here, there].map((store, n) =>
          store.claim(
            claimRequest({ owner: `o${n}`, now: at(1), limit: 10, workflows: [{ name, concurrency: null }] }),
          ),
        ),
      );
      taken.push(...claims.flat().map(({ instanceId }) => instanceId));
    }
    expect(taken.toSorted()).toEqual(ids.toSorted());
    expect(await here.nextDueAt([name])).toBe(at(1) + leaseMs);
    expect(await here.nextDueAt([workflow, "nobody's"])).not.toBeUndefined();
  });
});
