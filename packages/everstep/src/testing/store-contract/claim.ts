import { claimIds, claimOne, committed, ended, instance, started, suspended, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, isTrue, matches } from "./check.ts";
import {
  at,
  awaiting,
  begun,
  boundary,
  claimRequest,
  commit,
  complete,
  create,
  leaseMs,
  never,
  pause,
  sendEvent,
  sleeping,
  suspendUntil,
  terminate,
  value,
  workflow,
} from "./given.ts";

export const claimCases: readonly Case[] = [
  {
    name: "a due run is handed out with a lease, its parameters and its times",
    async run({ open }) {
      const store = await open();
      await write(store, create("a", { params: value({ n: 1 }), createdAt: at(-9), deadlineAt: at(77) }));
      const claim = await claimOne(store, "a", at(5), { owner: "r1", leaseUntil: at(105) });
      const record = await instance(store, "a");
      equal(
        claim,
        {
          workflowName: workflow,
          instanceId: "a",
          lease: { runId: record.runId, token: record.token, owner: "r1", expiresAt: at(105) },
          runNumber: 1,
          params: value({ n: 1 }),
          createdAt: at(-9),
          startedAt: at(5),
          deadlineAt: at(77),
          waitingSince: null,
          fresh: true,
          eventSeq: 0,
          begun: [],
          crashCount: 0,
          left: { token: 0, commit: 0, ranOut: false },
        },
        "the claim",
      );
      matches(
        record,
        { status: "active", executing: true, startedAt: at(5), dueAt: at(105) },
        "the instance",
      );
    },
  },
  {
    name: "a run is not claimed twice while its lease is in force, and is once it ran out (INV-1)",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      const first = await claimOne(store, "a", at(0), { leaseUntil: at(100) });
      equal(await claimIds(store, at(99)), [], "while the lease is in force");
      const second = await claimOne(store, "a", at(100), { owner: "other" });
      isTrue(second.lease.token !== first.lease.token, "the token is another");
      equal(second.lease.owner, "other", "owner");
    },
  },
  {
    name: "every lease has the token that the claim asked for, large or small, whatever the run had before (INV-1)",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      let left = 0;
      for (const [n, token] of [2 ** 48, 17, 2 ** 52 - 1, 1, 2 ** 40].entries()) {
        const claim = await claimOne(store, "a", at(n * 10), { token, leaseUntil: at(n * 10 + 5) });
        equal([claim.lease.token, claim.left.token], [token, left], "tokens");
        equal((await instance(store, "a")).token, token, "token of the record");
        await committed(store, commit(claim.lease, boundary(1, { begun: [begun("body")] })), at(n * 10));
        if (n % 2 === 0) await store.release([claim.lease], at(n * 10 + 1));
        left = token;
      }
    },
  },
  {
    name: "a claim says under which token and with which commit the run was left",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      await committed(store, commit(lease, boundary(1)), at(1));
      await committed(store, commit(lease, boundary(2, { next: suspendUntil(at(5)) })), at(2));
      const second = await claimOne(store, "a", at(5));
      equal(second.left, { token: lease.token, commit: 2, ranOut: false }, "after a suspension");
      const third = await claimOne(store, "a", at(5 + leaseMs));
      equal(third.left, { token: second.lease.token, commit: 0, ranOut: true }, "after a lease ran out");
    },
  },
  {
    name: "claims made at the same time share the due runs out, each to one (scenario 138)",
    async run({ open }) {
      const store = await open();
      await store.write(
        Array.from({ length: 40 }, (_unused, n) => create(`i${n}`)),
        at(0),
      );
      const claims = await Promise.all(
        Array.from({ length: 10 }, (_unused, n) =>
          store.claim(claimRequest({ now: at(0), owner: `r${n}`, limit: 10 })),
        ),
      );
      const ids = claims.flat().map((claim) => claim.instanceId);
      equal(ids.length, 40, "claims in all");
      equal(new Set(ids).size, 40, "different instances");
    },
  },
  {
    name: "two handles on the same data never claim the same run",
    needs: "reopen",
    async run({ open, reopen }) {
      const store = await open();
      const other = await reopen(store);
      await store.write(
        Array.from({ length: 40 }, (_unused, n) => create(`i${n}`)),
        at(0),
      );
      const claims = await Promise.all(
        Array.from({ length: 8 }, (_unused, n) =>
          (n % 2 === 0 ? store : other).claim(claimRequest({ now: at(0), owner: `r${n}`, limit: 7 })),
        ),
      );
      const ids = claims.flat().map((claim) => claim.instanceId);
      equal(ids.length, 40, "claims in all");
      equal(new Set(ids).size, 40, "different instances");
    },
  },
  {
    name: "only runs of the named workflows are claimed",
    async run({ open }) {
      const store = await open();
      await store.write(
        [create("a"), create("b", { workflowName: "bill" }), create("c", { workflowName: "ship" })],
        at(0),
      );
      const workflows = [
        { name: "bill", concurrency: null },
        { name: "ship", concurrency: null },
        { name: "unknown", concurrency: null },
      ];
      equal(await claimIds(store, at(0), { workflows: [] }), [], "for a runner without workflows");
      equal(await claimIds(store, at(0), { workflows }), ["b", "c"], "claimed");
      equal(await claimIds(store, at(0)), ["a"], "left for its own runner");
    },
  },
  {
    name: "paused and terminal runs are never claimed (scenario 140)",
    async run({ open }) {
      const store = await open();
      await store.write(
        [create("paused"), pause("paused"), create("terminated"), terminate("terminated")],
        at(0),
      );
      await ended(store, "complete", complete());
      await ended(store, "errored", {
        kind: "error",
        error: { name: "Error", message: "no" },
        deadLetter: false,
      });
      equal(await claimIds(store, never), [], "claimed");
    },
  },
  {
    name: "ten thousand paused runs do not starve the one that is due (LIV-5)",
    async run({ open }) {
      const store = await open();
      for (let n = 0; n < 10; n += 1) {
        const ids = Array.from({ length: 1000 }, (_unused, m) => `paused ${n} ${m}`);
        await store.write(
          ids.map((id) => create(id, { dueAt: at(-1000) })),
          at(0),
        );
        await store.write(ids.map(pause), at(0));
      }
      await write(store, create("due"));
      equal(await claimIds(store, at(1), { limit: 1 }), ["due"], "claimed");
    },
  },
  {
    name: "a claim says since when the run had been waiting, and that it was not after a turn that gave way",
    async run({ open }) {
      const store = await open();
      await suspended(store, "a", [sleeping(1, at(100))], at(100), {}, at(20));
      const second = await claimOne(store, "a", at(100));
      equal(second.waitingSince, at(20), "waiting since");
      await committed(
        store,
        commit(second.lease, boundary(1, { next: { kind: "yield", dueAt: at(110) } })),
        at(105),
      );
      equal((await claimOne(store, "a", at(110))).waitingSince, null, "waiting since, after a yield");
    },
  },
  {
    name: "a claim says that the run is fresh until something was committed for it",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      const first = await claimOne(store, "a", at(0));
      await store.release([first.lease], at(1));
      const second = await claimOne(store, "a", at(1));
      equal(second.fresh, true, "fresh after a turn that recorded nothing");
      await committed(store, commit(second.lease, boundary(1, { next: suspendUntil(at(2)) })), at(1));
      equal((await claimOne(store, "a", at(2))).fresh, false, "fresh after a commit");
    },
  },
  {
    name: "a claim carries the newest event's sequence and the bodies last known in flight",
    async run({ open }) {
      const store = await open();
      const first = await started(store, "a");
      await store.write([sendEvent("a", "e1", "x"), sendEvent("a", "e2", "x")], at(1));
      await committed(
        store,
        commit(first.lease, boundary(1, { begun: [begun("charge"), begun("mail", 2)] })),
        at(2),
      );
      matches(
        await claimOne(store, "a", at(leaseMs)),
        { eventSeq: 2, begun: [begun("charge"), begun("mail", 2)] },
        "the claim",
      );
    },
  },
  {
    name: "a run is started once: later claims keep the time of the first",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      const first = await claimOne(store, "a", at(10));
      await committed(store, commit(first.lease, boundary(1, { next: suspendUntil(at(50)) })), at(20));
      equal((await claimOne(store, "a", at(50))).startedAt, at(10), "startedAt of the second claim");
      equal((await instance(store, "a")).startedAt, at(10), "startedAt of the instance");
    },
  },
  {
    name: "a waiting run is active again from the moment it is claimed",
    async run({ open }) {
      const store = await open();
      await suspended(store, "a", [awaiting(1, "x", at(10))], at(10));
      equal((await instance(store, "a")).status, "waiting", "status before");
      await claimOne(store, "a", at(10));
      matches(await instance(store, "a"), { status: "active", executing: true }, "the instance");
    },
  },
];
