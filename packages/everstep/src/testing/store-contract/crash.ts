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
  begun,
  boundary,
  commit,
  complete,
  completed,
  create,
  failure,
  leaseMs,
  never,
  pause,
  sleeping,
} from "./given.ts";

const delays = { crashDelaysMs: [0, 1000, 5000] };

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
      const claim = await claimOne(store, "a", at(leaseMs), { ...delays, owner: "other" });
      matches(
        claim,
        { crashCount: 1, fresh: false, begun: [begun("step 2#1")], startedAt: at(0) },
        "the claim",
      );
      equal(await stepsOf(store, claim.lease.runId), [completed(1)], "steps");
    },
  },
  {
    name: "the first crash is answered at once, later ones ever later: the run is put back, not claimed (INV-14)",
    async run({ open }) {
      const store = await open();
      await started(store, "a");
      equal(
        (await claimOne(store, "a", at(leaseMs), { ...delays, leaseUntil: at(40_000) })).crashCount,
        1,
        "first",
      );
      equal(await claimIds(store, at(40_000), delays), [], "claimed at the second crash");
      matches(
        await instance(store, "a"),
        { status: "active", executing: false, crashCount: 2, dueAt: at(41_000), token: 2 },
        "put back",
      );
      equal(await claimIds(store, at(40_999), delays), [], "claimed early");
      const second = await claimOne(store, "a", at(41_000), { ...delays, leaseUntil: at(50_000) });
      equal(second.crashCount, 2, "second");
      equal(second.lease.token, 3, "token");
    },
  },
  {
    name: "past the last delay, the last one serves for ever",
    async run({ open }) {
      const store = await open();
      await started(store, "a");
      let now = at(leaseMs);
      for (const [n, delay] of [0, 1000, 5000, 5000, 5000].entries()) {
        if (delay > 0) equal(await claimIds(store, now, delays), [], `claimed at crash ${n + 1}`);
        now += delay;
        equal(
          (await claimOne(store, "a", now, { ...delays, leaseUntil: now + 10 })).crashCount,
          n + 1,
          "crash count",
        );
        now += 10;
      }
    },
  },
  {
    name: "a commit proves progress: the count begins again (INV-14)",
    async run({ open }) {
      const store = await open();
      await started(store, "a");
      const claim = await claimOne(store, "a", at(leaseMs), { ...delays, leaseUntil: at(40_000) });
      await committed(store, commit(claim.lease, boundary(1, { steps: [completed(1)] })), at(35_000));
      equal((await instance(store, "a")).crashCount, 0, "crash count after the commit");
      equal((await claimOne(store, "a", at(40_000), delays)).crashCount, 1, "crash count of the next crash");
    },
  },
  {
    name: "renewing and releasing are not progress: the count stays",
    async run({ open }) {
      const store = await open();
      await started(store, "a");
      const { lease } = await claimOne(store, "a", at(leaseMs), delays);
      await store.renew([{ lease, begun: [] }], at(3 * leaseMs), at(leaseMs + 1));
      await store.release([lease], at(leaseMs + 2));
      equal((await claimOne(store, "a", at(leaseMs + 2), delays)).crashCount, 1, "crash count");
    },
  },
  {
    name: "a run put back is taken from its runner: what comes late is refused (INV-2)",
    async run({ open }) {
      const store = await open();
      const slow = await started(store, "a");
      equal(await claimIds(store, at(leaseMs), { crashDelaysMs: [1000] }), [], "claimed");
      await superseded(store, commit(slow.lease, boundary(1, { steps: [completed(1)] })), at(leaseMs + 1));
      equal(
        await store.renew([{ lease: slow.lease, begun: [] }], never, at(leaseMs + 1)),
        [{ kind: "lost" }],
        "renewal",
      );
      await store.release([slow.lease], at(leaseMs + 1));
      equal((await instance(store, "a")).dueAt, at(leaseMs + 1000), "due time");
    },
  },
  {
    name: "runs put back do not use up the limit of a claim (LIV-5, LIV-7)",
    async run({ open }) {
      const store = await open();
      for (const id of ["crashed 1", "crashed 2", "crashed 3"]) await started(store, id);
      await write(store, create("healthy"));
      equal(await claimIds(store, at(leaseMs), { crashDelaysMs: [1000], limit: 1 }), ["healthy"], "claimed");
    },
  },
  {
    name: "a run put back in a claim makes room for other work under way, not for a new start",
    async run({ open }) {
      const store = await open();
      const twice = await started(store, "crashed twice", { lease: { owner: "runner", until: at(10) } });
      equal(
        (await claimOne(store, "crashed twice", at(10), { leaseUntil: at(20) })).crashCount,
        1,
        "first crash",
      );
      await started(store, "crashed once", { lease: { owner: "runner", until: at(30) } });
      await write(store, create("start", { dueAt: at(-1000) }));
      const claims = await claimIds(store, at(40), { ...delays, limit: 1 });
      equal(claims, ["crashed once"], "claimed");
      matches(
        await instance(store, "crashed twice"),
        { executing: false, token: twice.lease.token + 1 },
        "put back",
      );
    },
  },
  {
    name: "a run put back comes back before new starts",
    async run({ open }) {
      const store = await open();
      await write(store, create("crashed"));
      await claimOne(store, "crashed", at(0), { leaseUntil: at(10) });
      equal(await claimIds(store, at(10), { crashDelaysMs: [1000] }), [], "claimed");
      await write(store, create("start", { dueAt: at(20) }), at(20));
      equal(await claimIds(store, at(2000)), ["crashed", "start"], "order");
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
      const ids = await claimIds(store, at(leaseMs), delays);
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
      const claims = await claimIds(store, at(5), delays);
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
