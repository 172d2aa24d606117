import {
  claimIds,
  claimOne,
  committed,
  ended,
  instance,
  started,
  stepsOf,
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
  errored,
  errorOut,
  failure,
  leaseMs,
  never,
  pause,
  sleeping,
  suspendUntil,
  terminateSelf,
  value,
} from "./given.ts";

export const commitCases: readonly Case[] = [
  {
    name: "a committed step is there for the next turn, whatever its fate (scenario 156)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const steps = [completed(1), errored(2), sleeping(3, at(500))];
      await committed(store, commit(claim.lease, boundary(1, { steps })), at(1));
      const [history] = await store.readRuns([{ runId: claim.lease.runId, steps: true, eventsAfter: 0 }]);
      equal(history, { kind: "history", runId: claim.lease.runId, steps, events: [] }, "history");
    },
  },
  {
    name: "steps come back in order of index, not of name or commit (scenario 158)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const z = completed(2, { name: "zebra", key: "zebra#1" });
      const m = completed(7, { name: "mule", key: "mule#1" });
      const a = completed(12, { name: "ant", key: "ant#1" });
      await committed(store, commit(claim.lease, boundary(1, { steps: [a, z] })), at(1));
      await committed(store, commit(claim.lease, boundary(2, { steps: [m] })), at(1));
      equal(await stepsOf(store, claim.lease.runId), [z, m, a], "steps");
      const [history] = await store.readRuns([{ runId: claim.lease.runId, steps: true, eventsAfter: 0 }]);
      matches(history, { steps: [z, m, a] }, "history");
    },
  },
  {
    name: "a settled step is written once: its bytes never change (INV-7, scenario 157)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const first = [completed(1, { result: value(null) }), errored(2)];
      await committed(store, commit(claim.lease, boundary(1, { steps: first })), at(1));
      const second = [completed(1, { result: value("other") }), completed(2), sleeping(1, at(5))];
      await committed(store, commit(claim.lease, boundary(2, { steps: second })), at(2));
      equal(await stepsOf(store, claim.lease.runId), first, "steps");
    },
  },
  {
    name: "write-once holds across claims too (INV-7)",
    async run({ open }) {
      const store = await open();
      const slow = await started(store, "a");
      await committed(store, commit(slow.lease, boundary(1, { steps: [completed(1)] })), at(1));
      const fast = await claimOne(store, "a", at(leaseMs));
      const rewritten = completed(1, { result: value("rewritten") });
      await committed(store, commit(fast.lease, boundary(1, { steps: [rewritten] })), at(leaseMs));
      equal(await stepsOf(store, fast.lease.runId), [completed(1)], "steps");
    },
  },
  {
    name: "a waiting step gives way to its next wait and to its settlement, in its place",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const retry = sleeping(1, at(50), { type: "do", waitsFor: "retry", attempts: 1, starts: 1 });
      const later = { ...retry, attempts: 2, starts: 2, wakeAt: at(90) };
      await committed(store, commit(claim.lease, boundary(1, { steps: [retry, completed(2)] })), at(1));
      await committed(store, commit(claim.lease, boundary(2, { steps: [later] })), at(2));
      equal(await stepsOf(store, claim.lease.runId), [later, completed(2)], "after the second attempt");
      const done = completed(1, { attempts: 3, starts: 3, wakeAt: at(90) });
      await committed(store, commit(claim.lease, boundary(3, { steps: [done] })), at(3));
      equal(await stepsOf(store, claim.lease.runId), [done, completed(2)], "after the third");
    },
  },
  {
    name: "continue keeps the lease and extends it, and never shortens it",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await committed(store, commit(claim.lease, boundary(1), { leaseUntil: at(2 * leaseMs) }), at(1));
      matches(await instance(store, "a"), { executing: true, dueAt: at(2 * leaseMs) }, "extended");
      await committed(store, commit(claim.lease, boundary(2), { leaseUntil: at(leaseMs) }), at(2));
      equal((await instance(store, "a")).dueAt, at(2 * leaseMs), "end of the lease");
      equal(await claimIds(store, at(2 * leaseMs - 1)), [], "claimable before its end");
    },
  },
  {
    name: "suspend gives the lease back: the run waits and is claimed when due, not before (INV-28)",
    async run({ open }) {
      const store = await open();
      const claim = await suspended(store, "a", [sleeping(1, at(100))], at(100), {}, at(5));
      matches(
        await instance(store, "a"),
        { status: "waiting", executing: false, dueAt: at(100) },
        "the instance",
      );
      equal(await claimIds(store, at(99)), [], "claimed a millisecond early");
      equal((await claimOne(store, "a", at(100))).left.token, claim.lease.token, "token");
    },
  },
  {
    name: "yield gives the lease back although there is more to do: the run stays active",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await committed(
        store,
        commit(claim.lease, boundary(1, { next: { kind: "yield", dueAt: at(7) } })),
        at(5),
      );
      matches(
        await instance(store, "a"),
        { status: "active", executing: false, dueAt: at(7) },
        "the instance",
      );
      equal(await claimIds(store, at(6)), [], "claimed early");
      matches(await claimOne(store, "a", at(7)), { crashCount: 0 }, "the next claim");
    },
  },
  {
    name: "a failed attempt keeps the run going with its error; an error ends it for good (scenario 161)",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const error = failure("down");
      const retry = { ...sleeping(1, at(50)), type: "do", waitsFor: "retry", attempts: 1 } as const;
      const waiting = { ...retry, errors: [{ attempt: 1, at: at(5), error }] };
      const next = { kind: "suspend", dueAt: at(50), task: "retry" } as const;
      await committed(store, commit(lease, boundary(1, { steps: [waiting], next })), at(5));
      matches(
        await instance(store, "a"),
        { status: "waiting", dueAt: at(50), error: null },
        "after the attempt",
      );
      equal(
        (await stepsOf(store, lease.runId)).map(({ errors }) => errors.length),
        [1],
        "errors of the step",
      );
      const again = (await claimOne(store, "a", at(50))).lease;
      await committed(store, commit(again, boundary(1, { next: errorOut("down", true) })), at(51));
      matches(
        await instance(store, "a"),
        { status: "errored", dueAt: null, deadLetter: true },
        "after the end",
      );
    },
  },
  {
    name: "complete ends the run with its output, its last steps and nothing left to do (scenario 160)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await committed(
        store,
        commit(claim.lease, boundary(1, { steps: [completed(1)], next: complete([1, 2]) })),
        at(9),
      );
      matches(
        await instance(store, "a"),
        {
          status: "complete",
          output: value([1, 2]),
          error: null,
          completedAt: at(9),
          executing: false,
          dueAt: null,
          deadLetter: false,
        },
        "the instance",
      );
      equal(await stepsOf(store, claim.lease.runId), [completed(1)], "steps");
      equal(await claimIds(store, never), [], "claimable");
    },
  },
  {
    name: "error ends the run with its error, and says whether the engine gave up on it",
    async run({ open }) {
      const store = await open();
      await ended(store, "own", errorOut("own"), {}, at(3));
      await ended(store, "given up", errorOut("again and again", true), {}, at(4));
      matches(
        await instance(store, "own"),
        {
          status: "errored",
          error: failure("own"),
          output: null,
          deadLetter: false,
          completedAt: at(3),
          dueAt: null,
        },
        "its own error",
      );
      matches(await instance(store, "given up"), { status: "errored", deadLetter: true }, "given up on");
    },
  },
  {
    name: "a turn may end its run as terminated, with the reason",
    async run({ open }) {
      const store = await open();
      await ended(store, "a", terminateSelf(), {}, at(3));
      matches(
        await instance(store, "a"),
        {
          status: "terminated",
          terminationReason: { source: "deadline", message: "too late" },
          completedAt: at(3),
          executing: false,
        },
        "the instance",
      );
    },
  },
  {
    name: "an ended run is kept until its retention is over, for ever when it has none",
    async run({ open }) {
      const store = await open();
      await ended(store, "some", complete(), { retentionMs: 500 }, at(10));
      await ended(store, "none", complete(), {}, at(10));
      equal((await instance(store, "some")).retentionUntil, at(510), "retentionUntil");
      equal((await instance(store, "none")).retentionUntil, null, "retentionUntil without retention");
    },
  },
  {
    name: "the bodies in flight are those the last commit named",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await committed(store, commit(claim.lease, boundary(1, { begun: [begun("x"), begun("y")] })), at(1));
      equal((await instance(store, "a")).begun, [begun("x"), begun("y")], "after the first");
      await committed(store, commit(claim.lease, boundary(2, { begun: [begun("z", 3)] })), at(1));
      equal((await instance(store, "a")).begun, [begun("z", 3)], "after the second");
      await committed(store, commit(claim.lease, boundary(3, { next: suspendUntil(at(9)) })), at(1));
      equal((await instance(store, "a")).begun, [], "after the last");
    },
  },
  {
    name: "an instance was last updated when its newest step was, or itself",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a", {}, at(0));
      await committed(
        store,
        commit(claim.lease, boundary(1, { steps: [completed(1, { settledAt: at(40) })] })),
        at(40),
      );
      equal((await instance(store, "a")).updatedAt, at(40), "after a step");
      await write(store, pause("a"), at(70));
      equal((await instance(store, "a")).updatedAt, at(70), "after a pause");
    },
  },
];
