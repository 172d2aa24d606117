import type { Next } from "../../model/boundary.ts";
import {
  claimIds,
  claimOne,
  committed,
  ended,
  instance,
  started,
  stepsOf,
  superseded,
  suspended,
  write,
} from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, matches } from "./check.ts";
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
  failure,
  leaseMs,
  never,
  nextToken,
  pause,
  publish,
  sendEvent,
  sleeping,
  suspendUntil,
} from "./given.ts";

export const crashCases: readonly Case[] = [
  {
    name: "a runner that died is replaced when its lease runs out; what it recorded is kept (scenario 136, LIV-2)",
    async run({ open }) {
      const store = await open();
      const dead = await started(store, "a");
      await committed(
        store,
        commit(dead.lease, boundary(1, { steps: [completed(1)], begun: [begun("step 2#1")] })),
        at(5),
      );
      const claim = await claimOne(store, "a", at(leaseMs), { owner: "other" });
      matches(
        claim,
        { crashCount: 1, fresh: false, begun: [begun("step 2#1")], startedAt: at(0) },
        "the claim",
      );
      equal(await stepsOf(store, claim.lease.runId), [completed(1)], "steps");
    },
  },
  {
    name: "a lease counts as a crash once its holder was heard of; otherwise as one at most (INV-14)",
    async run({ open }) {
      const store = await open();
      await started(store, "a");
      let now = at(leaseMs);
      const claim = async (crashes: number, hint: string) => {
        const claimed = await claimOne(store, "a", now, { leaseUntil: now + 10 });
        equal(claimed.crashCount, crashes, hint);
        now += 10;
        return claimed;
      };
      await claim(1, "the first");
      await claim(1, "after a claim whose holder said nothing");
      for (const crashes of [1, 2, 3]) {
        const { lease } = await claim(crashes, `after ${crashes - 1} that were heard of`);
        const confirmed = boundary(1, { begun: [begun("step 1#1")], noProgress: true });
        await committed(store, commit(lease, confirmed), now - 5);
        equal((await instance(store, "a")).crashCount, crashes, "crash count after a word without progress");
      }
      await claim(4, "after another");
      const { lease } = await claim(4, "after a claim whose holder said nothing");
      const givesWay = boundary(1, { noProgress: true, next: { kind: "yield", dueAt: now } });
      await committed(store, commit(lease, givesWay), now - 5);
      equal((await instance(store, "a")).crashCount, 4, "crash count after a turn that only gave way");
      await claim(4, "after that");
    },
  },
  {
    name: "a lease that ran out while nobody may have reached the store is no crash; one that ran out before is (INV-14)",
    async run({ open }) {
      const store = await open();
      await started(store, "a");
      let now = at(leaseMs);
      const claim = async (excusedFrom: number | null, crashes: number, hint: string) => {
        const excuse = excusedFrom === null ? {} : { excusedFrom };
        const claimed = await claimOne(store, "a", now + 5, { leaseUntil: now + 10, ...excuse });
        equal(claimed.crashCount, crashes, hint);
        equal(claimed.left.ranOut, true, `${hint}: its lease ran out`);
        equal((await instance(store, "a")).crashCount, crashes, `${hint}, as stored`);
        await committed(store, commit(claimed.lease, boundary(1, { noProgress: true })), now + 6);
        now += 10;
      };
      await claim(now, 0, "the first, excused");
      await claim(now - 1, 0, "the next, excused");
      await claim(now + 1, 1, "one that was over before");
      await claim(null, 2, "one without an excuse");
      await claim(now, 2, "after two that counted, excused");
    },
  },
  {
    name: "a commit proves progress: the count begins again (INV-14)",
    async run({ open }) {
      const store = await open();
      await started(store, "a");
      const claim = await claimOne(store, "a", at(leaseMs), { leaseUntil: at(40_000) });
      await committed(store, commit(claim.lease, boundary(1, { steps: [completed(1)] })), at(35_000));
      equal((await instance(store, "a")).crashCount, 0, "crash count after the commit");
      equal((await claimOne(store, "a", at(40_000))).crashCount, 1, "crash count of the next crash");
    },
  },
  {
    name: "a last commit that only shows that the lease is held leaves the count, however it goes on (INV-14)",
    async run({ open }) {
      const nexts = { waits: suspendUntil(never), gives: { kind: "yield", dueAt: never }, ends: complete() };
      const store = await open();
      for (const [id, next] of Object.entries(nexts)) {
        await started(store, id);
        const { lease } = await claimOne(store, id, at(leaseMs));
        await committed(
          store,
          commit(lease, boundary(1, { noProgress: true, next: next as Next })),
          at(leaseMs + 1),
        );
        equal((await instance(store, id)).crashCount, 1, `crash count of the one that ${id}`);
      }
    },
  },
  {
    name: "renewing and releasing are not progress: the count stays",
    async run({ open }) {
      const store = await open();
      await started(store, "a");
      const { lease } = await claimOne(store, "a", at(leaseMs));
      await store.renew([{ lease, begun: [] }], at(3 * leaseMs), at(leaseMs + 1));
      await store.release([lease], at(leaseMs + 2));
      equal((await claimOne(store, "a", at(leaseMs + 2))).crashCount, 1, "crash count");
    },
  },
  {
    name: "a run given back for later comes back before new starts",
    async run({ open }) {
      const store = await open();
      await started(store, "crashed", { lease: { owner: "dead", until: at(10) } });
      const { lease } = await claimOne(store, "crashed", at(10));
      await store.release([{ ...lease, retryAt: at(1000) }], at(10));
      await write(store, create("start", { dueAt: at(20) }), at(20));
      equal(await claimIds(store, at(2000)), ["crashed", "start"], "order");
    },
  },
  {
    name: "an event does not end the delay before a run is tried again after a crash",
    async run({ open }) {
      const store = await open();
      await suspended(store, "a", [awaiting(1, "x", never), awaitingTopic(2, "news", never)], at(5));
      await claimOne(store, "a", at(5), { leaseUntil: at(10) });
      const { lease } = await claimOne(store, "a", at(10));
      await store.release([{ ...lease, retryAt: at(1000) }], at(10));
      matches(await write(store, sendEvent("a", "e1", "x"), at(20)), { woke: false }, "the event");
      await write(store, publish("p1", "news"), at(30));
      await store.write([sendEvent("a", "e2", "x"), sendEvent("a", "e3", "y")], at(40));
      equal((await instance(store, "a")).dueAt, at(1000), "due time");
      equal((await claimOne(store, "a", at(1000))).eventSeq, 4, "events that the next turn finds");
    },
  },
  {
    name: "leases whose claim was answered to nobody are given back by their token, and that is no crash",
    async run({ open }) {
      const store = await open();
      for (const id of ["a", "b", "c"]) await write(store, create(id));
      const [unheard, known] = [nextToken(), nextToken()];
      await store.claim(claimRequest({ now: at(0), limit: 2, owner: "me", token: unheard }));
      await store.claim(claimRequest({ now: at(0), limit: 1, owner: "me", token: known }));
      const giveBack = abandon("me", { kind: "release", token: unheard });
      equal(await write(store, giveBack, at(5)), { kind: "abandoned", runs: 2 }, "the outcome");
      equal(await write(store, giveBack, at(6)), { kind: "abandoned", runs: 0 }, "the second time");
      const others = abandon("other", { kind: "release", token: known });
      equal(await write(store, others, at(6)), { kind: "abandoned", runs: 0 }, "by somebody else");
      matches(await instance(store, "a"), { executing: false, dueAt: at(5), crashCount: 0 }, "one of them");
      matches(await instance(store, "c"), { executing: true }, "the one that is known");
      equal(await claimIds(store, at(5)), ["a", "b"], "claimable at once");
    },
  },
  {
    name: "many runs of a dead runner are recovered at once; those of others are left alone (scenario 148)",
    async run({ open }) {
      const store = await open();
      for (let n = 0; n < 30; n += 1) await started(store, `dead ${n}`);
      for (let n = 0; n < 10; n += 1) {
        await started(store, `alive ${n}`, { lease: { owner: "alive", until: at(5 * leaseMs) } });
      }
      await ended(store, "over", complete());
      await write(store, create("queued", { dueAt: never }));
      const ids = await claimIds(store, at(leaseMs));
      equal(ids.length, 30, "recovered");
      equal(
        ids.filter((id) => !id.startsWith("dead")),
        [],
        "others recovered",
      );
    },
  },
  {
    name: "a dead owner's leases can be ended at once, which counts as a crash; others keep theirs",
    async run({ open }) {
      const store = await open();
      await started(store, "a", { lease: { owner: "dead", until: at(leaseMs) } });
      await started(store, "b", { lease: { owner: "dead", until: at(leaseMs) } });
      await started(store, "c", { lease: { owner: "alive", until: at(leaseMs) } });
      await suspended(store, "waiting", [sleeping(1, never)], never, {
        lease: { owner: "dead", until: at(leaseMs) },
      });
      equal(await write(store, abandon("dead"), at(5)), { kind: "abandoned", runs: 2 }, "the outcome");
      const claims = await claimIds(store, at(5));
      equal(claims, ["a", "b"], "claimable at once");
      equal((await instance(store, "a")).crashCount, 1, "crash count");
      matches(await instance(store, "waiting"), { status: "waiting", dueAt: never }, "the waiting run");
      equal(await write(store, abandon("dead"), at(6)), { kind: "abandoned", runs: 0 }, "the second time");
    },
  },
  {
    name: "a dead owner's unfinished runs can be ended with an error, waiting and paused ones included (row 136)",
    async run({ open }) {
      const store = await open();
      const lease = { owner: "dead", until: at(leaseMs) };
      const leased = await started(store, "leased", { lease, retentionMs: 100 });
      await committed(store, commit(leased.lease, boundary(1)), at(0));
      await suspended(store, "waiting", [sleeping(1, never)], never, { lease });
      await suspended(store, "paused", [sleeping(1, never)], never, { lease });
      await write(store, pause("paused"), at(1));
      await ended(store, "over", complete("kept"), { lease });
      await suspended(store, "moved on", [sleeping(1, at(2))], at(2), { lease });
      await claimOne(store, "moved on", at(2), { owner: "alive", leaseUntil: never });
      await write(store, create("untouched", { dueAt: never }));
      const fate = { kind: "error", error: failure("interrupted") } as const;
      equal(await write(store, abandon("dead", fate), at(5)), { kind: "abandoned", runs: 3 }, "the outcome");
      for (const id of ["leased", "waiting", "paused"]) {
        matches(
          await instance(store, id),
          {
            status: "errored",
            error: failure("interrupted"),
            completedAt: at(5),
            executing: false,
            dueAt: null,
          },
          id,
        );
      }
      equal((await instance(store, "leased")).retentionUntil, at(105), "retention");
      matches(await instance(store, "over"), { status: "complete", error: null }, "the one that was over");
      matches(
        await instance(store, "moved on"),
        { status: "active", executing: true },
        "the one that moved on",
      );
      equal((await instance(store, "untouched")).status, "active", "the one it never held");
      await superseded(store, commit(leased.lease, boundary(1)), at(6));
      await superseded(store, commit(leased.lease, boundary(2, { next: complete() })), at(6));
    },
  },
];
