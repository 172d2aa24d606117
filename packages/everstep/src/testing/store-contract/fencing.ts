import {
  claimOne,
  committed,
  ended,
  erased,
  instance,
  snapshot,
  started,
  stepsOf,
  superseded,
  suspended,
  undelivered,
  write,
} from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, isTrue, matches } from "./check.ts";
import {
  at,
  begun,
  boundary,
  commit,
  complete,
  completed,
  create,
  leaseMs,
  logLine,
  pause,
  ref,
  restart,
  sendEvent,
  sleeping,
  suspendUntil,
  terminate,
  value,
} from "./given.ts";

/** A boundary that would leave a trace in every kind of row. */
const everything = boundary(1, {
  steps: [completed(1)],
  consumed: [{ seq: 1, stepKey: "step 1#1" }],
  eventSeqSeen: 1,
  logs: [logLine("stale")],
  begun: [begun("stale")],
  next: complete("stale"),
});

export const fencingCases: readonly Case[] = [
  {
    name: "a stale token's commit changes nothing: no step, no event, no log line, no due time (INV-2)",
    async run({ open }) {
      const store = await open();
      const slow = await started(store, "a");
      await write(store, sendEvent("a", "e1", "x"), at(1));
      await claimOne(store, "a", at(leaseMs), { owner: "fast" });
      const before = await snapshot(store, "a");
      await superseded(
        store,
        commit(slow.lease, everything, { alongside: [create("child")] }),
        at(leaseMs + 1),
      );
      equal(await snapshot(store, "a"), before, "everything the run shows");
      equal(await store.getInstance(ref("child")), undefined, "what it would have created alongside");
    },
  },
  {
    name: "the fence is the claim, not the runner's name: a second claim by the same runner shuts out the first (INV-3)",
    async run({ open }) {
      const store = await open();
      const first = await started(store, "a");
      const second = await claimOne(store, "a", at(leaseMs), { owner: "runner" });
      equal(second.lease.owner, first.lease.owner, "owner");
      await superseded(store, commit(first.lease, boundary(1, { steps: [completed(1)] })), at(leaseMs));
      await committed(store, commit(second.lease, boundary(1, { steps: [completed(1)] })), at(leaseMs));
    },
  },
  {
    name: "a lease that ran out but was taken by nobody still commits: time never decides safety (INV-5)",
    async run({ open }) {
      const store = await open();
      const slow = await started(store, "a");
      await committed(store, commit(slow.lease, boundary(1, { steps: [completed(1)] })), at(10 * leaseMs));
      await committed(store, commit(slow.lease, boundary(2, { next: complete() })), at(20 * leaseMs));
      equal((await instance(store, "a")).status, "complete", "status");
    },
  },
  {
    name: "a stale token is refused even for a number that its successor has already used",
    async run({ open }) {
      const store = await open();
      const slow = await started(store, "a");
      const fast = await claimOne(store, "a", at(leaseMs));
      await committed(store, commit(fast.lease, boundary(1, { steps: [completed(1)] })), at(leaseMs));
      await superseded(store, commit(slow.lease, boundary(1, { steps: [completed(1)] })), at(leaseMs));
    },
  },
  {
    name: "a lease that was given back commits nothing more",
    async run({ open }) {
      const store = await open();
      const claim = await suspended(store, "a", [sleeping(1, at(100))], at(100));
      const before = await snapshot(store, "a");
      await superseded(store, commit(claim.lease, boundary(2, { steps: [completed(2)] })), at(1));
      equal(await snapshot(store, "a"), before, "everything the run shows");
      const released = await started(store, "b");
      await store.release([released.lease], at(1));
      await superseded(store, commit(released.lease, boundary(1, { steps: [completed(1)] })), at(1));
    },
  },
  {
    name: "a run that ended takes no further commit: output and error never change (INV-33)",
    async run({ open }) {
      const store = await open();
      const claim = await ended(store, "a", complete("first"));
      const before = await snapshot(store, "a");
      await superseded(
        store,
        commit(claim.lease, boundary(2, { steps: [completed(9)], next: complete("second") })),
        at(1),
      );
      equal(await snapshot(store, "a"), before, "everything the run shows");
    },
  },
  {
    name: "terminate shuts the running turn out at once, repeats of its last commit included (INV-35)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const first = commit(claim.lease, boundary(1, { steps: [completed(1)] }));
      await committed(store, first, at(1));
      await write(store, terminate("a"), at(2));
      const before = await snapshot(store, "a");
      await superseded(store, first, at(3));
      await superseded(store, commit(claim.lease, boundary(2, { next: complete() })), at(3));
      equal(await snapshot(store, "a"), before, "everything the run shows");
    },
  },
  {
    name: "complete and terminate race: whoever is first wins, the other is told (INV-35)",
    async run({ open }) {
      const store = await open();
      const a = await started(store, "a");
      const completeFirst = await store.write(
        [commit(a.lease, boundary(1, { next: complete() })), terminate("a")],
        at(1),
      );
      equal(
        completeFirst.map((o) => o.kind),
        ["committed", "refused"],
        "completed first",
      );
      const b = await started(store, "b");
      const terminateFirst = await store.write(
        [terminate("b"), commit(b.lease, boundary(1, { next: complete() }))],
        at(1),
      );
      equal(
        terminateFirst.map((o) => o.kind),
        ["changed", "superseded"],
        "terminated first",
      );
      equal((await instance(store, "b")).status, "terminated", "status");
    },
  },
  {
    name: "a restart shuts the old run out and moves the token (INV-1, scenario 113)",
    async run({ open }) {
      const store = await open();
      const old = await started(store, "a");
      await committed(store, commit(old.lease, boundary(1, { steps: [completed(1)] })), at(1));
      await write(store, restart("a"), at(2));
      await superseded(store, commit(old.lease, boundary(1, { steps: [completed(1)] })), at(3));
      await superseded(
        store,
        commit(old.lease, boundary(2, { steps: [completed(2)], next: complete() })),
        at(3),
      );
      // Exactly one more than the token at the moment of the restart, whether or not the old run was still at work.
      equal((await instance(store, "a")).token, old.lease.token + 1, "token of the new run");
      const claim = await claimOne(store, "a", at(4));
      isTrue(claim.lease.runId !== old.lease.runId, "the new run has a name of its own");
      equal(claim.runNumber, 2, "run number");
    },
  },
  {
    name: "a token never comes back, over many restarts and claims (INV-1)",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      const seen = new Set<number>();
      for (let n = 0; n < 6; n += 1) {
        const { token } = (await claimOne(store, "a", at(n * 10))).lease;
        isTrue(!seen.has(token), `token ${token} of run ${n + 1} is a new one`);
        seen.add(token);
        if (n % 2 === 0) await write(store, terminate("a"), at(n * 10));
        await write(store, restart("a"), at(n * 10));
      }
    },
  },
  {
    name: "a commit for a run that never was, or is no more, is superseded",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      equal(await erased(store, ref("a")), true, "removed");
      await superseded(store, commit(claim.lease, boundary(1)), at(1));
      const again = await started(store, "a");
      isTrue(again.lease.runId !== claim.lease.runId, "the name of a run is never used again");
      await superseded(store, commit(claim.lease, boundary(1)), at(1));
    },
  },
  {
    name: "a commit names the one before it: of two that follow the same one, only the first to arrive is applied",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      await committed(store, commit(lease, boundary(1, { steps: [completed(1)] })), at(1));
      // The second was refused and is not sent again, so the third follows the first.
      const third = commit(lease, boundary(3, { after: 1, steps: [completed(3)] }));
      await committed(store, third, at(2));
      await committed(store, third, at(3));
      await superseded(store, commit(lease, boundary(4, { after: 1, steps: [completed(4)] })), at(4));
      // The one that was refused arrives late: it was never applied, and nobody may be told that it was.
      await superseded(store, commit(lease, boundary(2, { steps: [completed(2)] })), at(4));
      equal(await stepsOf(store, lease.runId), [completed(1), completed(3)], "steps");
      await committed(store, commit(lease, boundary(4, { next: complete() })), at(5));
    },
  },
  {
    name: "a token that nobody was given is refused as well",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await superseded(store, commit({ ...claim.lease, token: claim.lease.token + 1 }, boundary(1)), at(1));
    },
  },
  {
    name: "a stale commit consumes no event: it waits for the run's next owner (INV-22)",
    async run({ open }) {
      const store = await open();
      const slow = await started(store, "a");
      await write(store, sendEvent("a", "e1", "x", { payload: value("keep me") }), at(1));
      const fast = await claimOne(store, "a", at(leaseMs));
      await superseded(
        store,
        commit(slow.lease, boundary(1, { consumed: [{ seq: 1, stepKey: "k" }], eventSeqSeen: 1 })),
        at(leaseMs),
      );
      const events = await undelivered(store, fast.lease.runId);
      equal(
        events.map((event) => event.payload),
        [value("keep me")],
        "undelivered events",
      );
    },
  },
  ...[
    { next: { kind: "continue" } as const, what: "goes on" },
    { next: suspendUntil(at(50)), what: "suspends" },
    { next: complete(), what: "completes" },
  ].map(
    ({ next, what }): Case => ({
      name: `a commit that ${what} and builds on an event that is not there is superseded, whatever has its number`,
      async run({ open }) {
        const store = await open();
        const { lease } = await started(store, "a");
        await write(store, sendEvent("a", "after-the-loss", "x"), at(1));
        const before = await snapshot(store, "a");
        const steps = [completed(1)];
        const consumed = [{ seq: 1, stepKey: "step 1#1" }];
        for (const heard of [
          [{ seq: 1, id: "lost" }],
          [{ seq: 2, id: "lost" }],
          [
            { seq: 1, id: "after-the-loss" },
            { seq: 2, id: "lost" },
          ],
        ]) {
          const facts = { steps, eventSeqSeen: heard.at(-1)?.seq ?? 0, heard, next };
          await superseded(store, commit(lease, boundary(1, { ...facts, consumed })), at(2));
          // One that takes nothing goes the quick way where there is one.
          await superseded(store, commit(lease, boundary(1, facts)), at(2));
        }
        equal(await snapshot(store, "a"), before, "everything the run shows");
        const heard = [{ seq: 1, id: "after-the-loss" }];
        const first = boundary(1, { steps, consumed, eventSeqSeen: 1, heard });
        await committed(store, commit(lease, first), at(3));
        equal(await undelivered(store, lease.runId), [], "undelivered events");
        // Taken since then, and there all the same.
        await committed(store, commit(lease, boundary(2, { eventSeqSeen: 1, heard, next })), at(4));
      },
    }),
  ),
  {
    name: "a commit that builds on a lost event is superseded alone, not those beside it",
    async run({ open }) {
      const store = await open();
      const [a, b] = [await started(store, "a"), await started(store, "b")];
      await write(store, sendEvent("b", "there", "x"), at(1));
      const misled = commit(a.lease, boundary(1, { eventSeqSeen: 1, heard: [{ seq: 1, id: "there" }] }));
      const sound = commit(b.lease, boundary(1, { eventSeqSeen: 1, heard: [{ seq: 1, id: "there" }] }));
      const outcomes = await store.write([misled, sound], at(2));
      equal(
        outcomes.map(({ kind }) => kind),
        ["superseded", "committed"],
        "outcomes",
      );
    },
  },
  {
    name: "a commit that skips a number is refused whole",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const before = await snapshot(store, "a");
      await superseded(
        store,
        commit(claim.lease, boundary(2, { steps: [completed(1)], logs: [logLine("x")] })),
        at(1),
      );
      equal(await snapshot(store, "a"), before, "everything the run shows");
    },
  },
  {
    name: "pause does not move the token: a step in flight is still recorded (INV-34)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await write(store, pause("a"), at(1));
      matches(
        await instance(store, "a"),
        { token: claim.lease.token, executing: true },
        "the paused instance",
      );
      const outcome = await write(
        store,
        commit(claim.lease, boundary(1, { next: suspendUntil(at(50)) })),
        at(2),
      );
      equal(outcome.kind, "paused", "the commit");
    },
  },
];
