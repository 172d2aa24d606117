import type { Lease } from "../../model/lease.ts";
import {
  claimIds,
  claimOne,
  committed,
  ended,
  erased,
  instance,
  snapshot,
  started,
  superseded,
  suspended,
  write,
} from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, matches } from "./check.ts";
import {
  at,
  begun,
  boundary,
  commit,
  complete,
  completed,
  leaseMs,
  never,
  pause,
  ref,
  restart,
  resume,
  sendEvent,
  sleeping,
  terminate,
} from "./given.ts";

export const leaseCases: readonly Case[] = [
  {
    name: "renewing keeps others out for longer and tells the newest event (scenario 135)",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      await write(store, sendEvent("a", "e1", "x"), at(1));
      equal(
        await store.renew([{ lease, begun: [] }], at(3 * leaseMs), at(2)),
        [{ kind: "renewed", eventSeq: 1, paused: false }],
        "the answer",
      );
      equal(await claimIds(store, at(3 * leaseMs - 1)), [], "claimable before the new end");
      equal(await claimIds(store, at(3 * leaseMs)), ["a"], "claimable at the new end");
    },
  },
  {
    name: "renewing never shortens a lease",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      await store.renew([{ lease, begun: [] }], at(10), at(1));
      equal((await instance(store, "a")).dueAt, at(leaseMs), "end of the lease");
    },
  },
  {
    name: "renewing records the bodies in flight, so that a crash is seen to have cut them off",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      await store.renew([{ lease, begun: [begun("charge", 2)] }], at(leaseMs), at(1));
      equal((await instance(store, "a")).begun, [begun("charge", 2)], "shown");
      equal((await claimOne(store, "a", at(leaseMs))).begun, [begun("charge", 2)], "claimed");
    },
  },
  {
    name: "a renewal that a commit has overtaken extends the lease and leaves the bodies that the commit named",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const named = boundary(1, { steps: [completed(1)], begun: [begun("pay")] });
      await committed(store, commit(lease, named), at(1));
      await store.renew([{ lease, begun: [begun("charge")], commit: 0 }], at(2 * leaseMs), at(2));
      const overtaken = await instance(store, "a");
      equal(overtaken.begun, [begun("pay")], "bodies in flight");
      equal(overtaken.dueAt, at(2 * leaseMs), "the end of the lease");
      await store.renew([{ lease, begun: [begun("pay", 2)], commit: 1 }], at(2 * leaseMs), at(3));
      equal((await instance(store, "a")).begun, [begun("pay", 2)], "by a renewal that knows the commit");
    },
  },
  {
    name: "renewing is not acquiring: it revives no lease that another has taken (INV-4)",
    async run({ open }) {
      const store = await open();
      const slow = await started(store, "a");
      const fast = await claimOne(store, "a", at(leaseMs), { owner: "runner" });
      const before = await snapshot(store, "a");
      equal(
        await store.renew([{ lease: slow.lease, begun: [begun("stale")] }], never, at(leaseMs)),
        [{ kind: "lost" }],
        "the slow one",
      );
      equal(await snapshot(store, "a"), before, "everything the run shows");
      await committed(store, commit(fast.lease, boundary(1, { steps: [completed(1)] })), at(leaseMs));
    },
  },
  {
    name: "renewing puts no lease on a run that waits, was released, has ended or is gone (INV-4)",
    async run({ open }) {
      const store = await open();
      const waiting = await suspended(store, "waiting", [sleeping(1, at(50))], at(50));
      const released = await started(store, "released");
      await store.release([released.lease], at(1));
      const over = await ended(store, "over", complete());
      const terminated = await started(store, "terminated");
      await write(store, terminate("terminated"), at(1));
      const restarted = await started(store, "restarted");
      await write(store, restart("restarted"), at(1));
      const removed = await started(store, "removed");
      await erased(store, ref("removed"));
      const all = [waiting, released, over, terminated, restarted, removed];
      const answers = await store.renew(
        all.map(({ lease }) => ({ lease, begun: [] })),
        never,
        at(2),
      );
      equal(
        answers,
        all.map(() => ({ kind: "lost" })),
        "answers",
      );
      for (const id of ["waiting", "released", "over", "terminated", "restarted"]) {
        equal((await instance(store, id)).executing, false, `"${id}" executing`);
      }
      equal((await claimIds(store, at(50))).toSorted(), ["released", "restarted", "waiting"], "claimable");
    },
  },
  {
    name: "a lease that ran out but was taken by nobody can be renewed: only a claim takes it away (INV-5)",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const late = at(5 * leaseMs);
      matches(
        (await store.renew([{ lease, begun: [] }], late + leaseMs, late))[0],
        { kind: "renewed" },
        "the answer",
      );
      equal(await claimIds(store, late + 1), [], "claimable");
      await committed(store, commit(lease, boundary(1, { next: complete() })), late + 1);
    },
  },
  {
    name: "renewing a paused run says that it is paused, and keeps the lease while a body finishes",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      await write(store, pause("a"), at(1));
      equal(
        await store.renew([{ lease, begun: [begun("x")] }], at(2 * leaseMs), at(2)),
        [{ kind: "renewed", eventSeq: 0, paused: true }],
        "the answer",
      );
      matches(
        await instance(store, "a"),
        { status: "paused", executing: true, dueAt: at(2 * leaseMs) },
        "the instance",
      );
      await write(store, resume("a"), at(leaseMs + 1));
      equal(await claimIds(store, at(leaseMs + 1)), [], "claimable after resume while the lease is in force");
    },
  },
  {
    name: "many leases are renewed at once, each answered at its own place",
    async run({ open }) {
      const store = await open();
      const a = await started(store, "a");
      const b = await started(store, "b");
      const c = await started(store, "c");
      await store.release([b.lease], at(1));
      const answers = await store.renew(
        [c, b, a].map(({ lease }) => ({ lease, begun: [begun(String(lease.runId))] })),
        at(2 * leaseMs),
        at(2),
      );
      equal(
        answers.map((answer) => answer.kind),
        ["renewed", "lost", "renewed"],
        "answers",
      );
      equal((await instance(store, "c")).begun, [begun(String(c.lease.runId))], "bodies of c");
      equal(await store.renew([], at(2 * leaseMs), at(2)), [], "answers to nothing");
    },
  },
  {
    name: "a released run is due at once for anybody, and that is no crash (LIV-6)",
    async run({ open }) {
      const store = await open();
      const first = await started(store, "a");
      await store.release([first.lease], at(5));
      matches(
        await instance(store, "a"),
        { status: "active", executing: false, dueAt: at(5) },
        "the instance",
      );
      const next = await claimOne(store, "a", at(5), { owner: "other" });
      matches(next, { crashCount: 0, fresh: true }, "the next claim");
      equal(next.left, { token: first.lease.token, commit: 0, ranOut: false }, "what was left");
    },
  },
  {
    name: "releasing what is no longer held has no effect (scenario 134)",
    async run({ open }) {
      const store = await open();
      const slow = await started(store, "taken");
      await claimOne(store, "taken", at(leaseMs), { owner: "fast" });
      const waiting = await suspended(store, "waiting", [sleeping(1, never)], never);
      const over = await ended(store, "over", complete());
      const removed = await started(store, "removed");
      await erased(store, ref("removed"));
      await store.release([slow.lease, waiting.lease, over.lease, removed.lease], at(leaseMs));
      matches(
        await instance(store, "taken"),
        { executing: true, dueAt: at(2 * leaseMs) },
        "the one taken over",
      );
      equal((await instance(store, "waiting")).dueAt, never, "due time of the waiting one");
      equal((await instance(store, "over")).status, "complete", "the one that is over");
      equal(await claimIds(store, at(leaseMs)), [], "claimable");
    },
  },
  {
    name: "releasing a paused run gives up the lease and leaves it paused",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      await write(store, pause("a"), at(1));
      await store.release([lease], at(2));
      matches(await instance(store, "a"), { status: "paused", executing: false }, "the instance");
      await superseded(store, commit(lease, boundary(1)), at(3));
      equal(await claimIds(store, at(3)), [], "claimable while paused");
      await write(store, resume("a"), at(4));
      equal((await claimOne(store, "a", at(4))).crashCount, 0, "crash count");
    },
  },
  {
    name: "a lease given back for later leaves the run for a retry then, with its count of crashes",
    async run({ open }) {
      const store = await open();
      await started(store, "a");
      const { lease } = await claimOne(store, "a", at(leaseMs));
      const [paused, other] = [await started(store, "paused"), await started(store, "other")];
      await write(store, pause("paused"), at(1));
      const retryAt = at(leaseMs + 500);
      const given = [lease, paused.lease, other.lease].map((each) => ({ ...each, retryAt }));
      await store.release(given.slice(0, 2), at(leaseMs));
      matches(
        await instance(store, "a"),
        { status: "active", executing: false, crashCount: 1, dueAt: retryAt, token: lease.token },
        "the instance",
      );
      matches(await instance(store, "paused"), { status: "paused", executing: false }, "the paused one");
      equal(await claimIds(store, retryAt - 1, { leaseUntil: never }), ["other"], "claimable before");
      equal((await claimOne(store, "a", retryAt)).crashCount, 1, "crash count");
      await superseded(store, commit(lease, boundary(1)), retryAt);
      await store.release(given, retryAt);
      equal((await instance(store, "other")).executing, true, "one that is another's by now");
    },
  },
  {
    name: "a lease is lost to a store that knows fewer commits than its holder was told of",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      await committed(store, commit(lease, boundary(1, { steps: [completed(1)] })), at(1));
      const renew = async (applied: number): Promise<string | undefined> =>
        (await store.renew([{ lease, begun: [], commit: applied, applied }], at(leaseMs), at(2)))[0]?.kind;
      equal(await renew(1), "renewed", "by a holder that knows the same");
      const before = await instance(store, "a");
      const alone = [{ lease, begun: [], applied: 2 }];
      for (const renewals of [[{ lease, begun: [], commit: 2, applied: 2 }], alone])
        equal(
          (await store.renew(renewals, at(3 * leaseMs), at(3)))[0]?.kind,
          "lost",
          "by one that knows more",
        );
      equal(await instance(store, "a"), before, "the instance, which keeps its lease as it was");
    },
  },
  {
    name: "a lease on a run that is gone or was taken over keeps none of those released with it",
    async run({ open }) {
      const store = await open();
      const ids = ["a", "gone", "b", "taken", "c"];
      const leases: Lease[] = [];
      for (const id of ids) leases.push((await started(store, id)).lease);
      await erased(store, ref("gone"));
      await store.release(leases.slice(3, 4), at(1));
      await claimOne(store, "taken", at(1), { owner: "other" });
      await store.release(
        leases.map((lease, n) => (n === 4 ? { ...lease, retryAt: at(9) } : lease)),
        at(5),
      );
      equal(await claimIds(store, at(5)), ["a", "b"], "claimable");
      equal(await claimIds(store, at(9)), ["c"], "claimable later");
    },
  },
  {
    name: "many leases are released at once",
    async run({ open }) {
      const store = await open();
      const claims = [await started(store, "a"), await started(store, "b"), await started(store, "c")];
      await store.release(
        claims.map(({ lease }) => lease),
        at(5),
      );
      equal(await claimIds(store, at(5)), ["a", "b", "c"], "claimable");
      await store.release([], at(5));
    },
  },
];
