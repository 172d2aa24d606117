import { claimIds, claimOne, committed, instance, started, suspended, undelivered, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, matches } from "./check.ts";
import {
  at,
  awaiting,
  boundary,
  commit,
  leaseMs,
  never,
  pause,
  received,
  resume,
  sendEvent,
  sleeping,
  suspendUntil,
} from "./given.ts";

export const eventWakeCases: readonly Case[] = [
  {
    name: "an event for an open wait makes the waiting run due now (INV-23)",
    async run({ open }) {
      const store = await open();
      await suspended(store, "a", [awaiting(1, "approved", at(1000))], at(1000));
      const outcome = await write(store, sendEvent("a", "e1", "approved", { createdAt: at(10) }), at(10));
      matches(outcome, { kind: "accepted", status: "waiting", woke: true }, "the outcome");
      equal((await instance(store, "a")).dueAt, at(10), "dueAt");
      matches(await claimOne(store, "a", at(10)), { eventSeq: 1, crashCount: 0 }, "the claim");
    },
  },
  {
    name: "an event wakes the wait for its own type only (scenarios 77, 109)",
    async run({ open }) {
      const store = await open();
      await suspended(store, "a", [awaiting(1, "approved", at(1000)), sleeping(2, at(500))], at(500));
      for (const type of ["Approved", "approved ", "rejected", ""]) {
        matches(
          await write(store, sendEvent("a", `e ${type}`, type), at(10)),
          { woke: false },
          `type "${type}"`,
        );
      }
      equal(await claimIds(store, at(499)), [], "claimable");
    },
  },
  {
    name: "an event without a type wakes no wait, not even one without an event type",
    async run({ open }) {
      const store = await open();
      await suspended(store, "a", [sleeping(1, at(500))], at(500));
      matches(
        await write(store, sendEvent("a", "e1", null), at(10)),
        { kind: "accepted", woke: false },
        "the outcome",
      );
      equal(await claimIds(store, at(499)), [], "claimable");
    },
  },
  {
    name: "an event addressed to a step wakes that step and no other, whatever its type",
    async run({ open }) {
      const store = await open();
      const nap = sleeping(1, at(500));
      await suspended(store, "a", [nap, awaiting(2, "x", at(900))], at(500));
      matches(
        await write(store, sendEvent("a", "e1", "x", { forStep: "elsewhere#1" }), at(10)),
        { woke: false },
        "addressed elsewhere",
      );
      matches(
        await write(store, sendEvent("a", "e2", null, { forStep: nap.key, system: true }), at(11)),
        { woke: true },
        "addressed to the sleep",
      );
      equal(await claimIds(store, at(11)), ["a"], "claimable");
    },
  },
  {
    name: "an event that comes while the turn decides to wait makes the suspended run due now (INV-23, scenario 74)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      matches(
        await write(store, sendEvent("a", "e1", "x"), at(1)),
        { woke: false },
        "sent to the leased run",
      );
      const outcome = await committed(
        store,
        commit(claim.lease, boundary(1, { steps: [awaiting(1, "x", at(900))], next: suspendUntil(at(900)) })),
        at(2),
      );
      equal(outcome, { kind: "committed", eventSeq: 1, timeoutsRefused: false, dueNow: true }, "the suspend");
      matches(
        await instance(store, "a"),
        { status: "waiting", executing: false, dueAt: at(2) },
        "the instance",
      );
      equal(await claimIds(store, at(2)), ["a"], "claimable");
    },
  },
  {
    name: "the same for a wait that was recorded by an earlier commit",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await committed(store, commit(claim.lease, boundary(1, { steps: [awaiting(1, "x", at(900))] })), at(1));
      await write(store, sendEvent("a", "e1", "x", { createdAt: at(2) }), at(2));
      const outcome = await committed(
        store,
        commit(claim.lease, boundary(2, { next: suspendUntil(at(900)) })),
        at(3),
      );
      equal(outcome.dueNow, true, "dueNow");
    },
  },
  {
    name: "a suspend that has seen the event, or cannot use it, is not disturbed by it",
    async run({ open }) {
      const store = await open();
      const seen = await started(store, "seen");
      await write(store, sendEvent("seen", "e1", "y"), at(1));
      const wait = awaiting(1, "x", at(900));
      const quiet = await committed(
        store,
        commit(seen.lease, boundary(1, { steps: [wait], next: suspendUntil(at(900)) })),
        at(2),
      );
      equal(quiet.dueNow, false, "dueNow with an event of another type");
      const claim = await claimOne(store, "seen", at(900));
      await write(store, sendEvent("seen", "e2", "z"), at(900));
      const again = await committed(
        store,
        commit(
          claim.lease,
          boundary(1, { steps: [awaiting(2, "z", at(999))], eventSeqSeen: 2, next: suspendUntil(at(999)) }),
        ),
        at(900),
      );
      equal(again.dueNow, false, "dueNow with an event the turn has seen");
    },
  },
  {
    name: "a suspend is not disturbed by an event for a step that is settled or by one consumed before",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await store.write([sendEvent("a", "e1", "x"), sendEvent("a", "e2", "old")], at(1));
      const outcome = await committed(
        store,
        commit(
          claim.lease,
          boundary(1, {
            steps: [
              received(awaiting(1, "x", never)),
              received(awaiting(2, "old", never)),
              awaiting(3, "x", never),
            ],
            consumed: [{ seq: 1, stepKey: "step 1#1" }],
            next: suspendUntil(never),
          }),
        ),
        at(2),
      );
      equal(outcome.dueNow, false, "dueNow");
    },
  },
  {
    name: "an event for a leased run never touches its lease, in force or run out",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await committed(store, commit(claim.lease, boundary(1, { steps: [awaiting(1, "x", never)] })), at(1));
      matches(await write(store, sendEvent("a", "e1", "x"), at(2)), { woke: false }, "in force");
      matches(await instance(store, "a"), { dueAt: at(leaseMs), executing: true }, "the lease");
      await write(store, sendEvent("a", "e2", "x", { createdAt: at(leaseMs + 5) }), at(leaseMs + 5));
      equal((await instance(store, "a")).dueAt, at(leaseMs), "the end of the lease that ran out");
      equal((await claimOne(store, "a", at(leaseMs + 5))).crashCount, 1, "crash count");
    },
  },
  {
    name: "an event created after the deadline wakes nobody and stays (INV-26, scenario 81)",
    async run({ open }) {
      const store = await open();
      const claim = await suspended(store, "a", [awaiting(1, "x", at(100)), sleeping(2, at(900))], at(900));
      matches(
        await write(store, sendEvent("a", "e1", "x", { createdAt: at(101) }), at(101)),
        { woke: false },
        "late",
      );
      equal(await claimIds(store, at(899)), [], "claimable");
      equal((await undelivered(store, claim.lease.runId)).length, 1, "undelivered");
      matches(
        await write(store, sendEvent("a", "e2", "x", { createdAt: at(100) }), at(102)),
        { woke: true },
        "in time",
      );
    },
  },
  {
    name: "an event for a paused run is kept, wakes it only after resume, and changes no status (scenarios 84, 85)",
    async run({ open }) {
      const store = await open();
      await suspended(store, "a", [awaiting(1, "x", never)], never);
      await write(store, pause("a"), at(1));
      matches(
        await write(store, sendEvent("a", "e1", "x"), at(2)),
        { kind: "accepted", status: "paused", woke: false },
        "the outcome",
      );
      equal((await instance(store, "a")).status, "paused", "status");
      equal(await claimIds(store, at(3)), [], "claimable while paused");
      await write(store, resume("a"), at(4));
      matches(await claimOne(store, "a", at(4)), { eventSeq: 1 }, "the claim after resume");
    },
  },
  {
    name: "an event never postpones a run that was due earlier",
    async run({ open }) {
      const store = await open();
      await suspended(store, "a", [awaiting(1, "x", at(900)), sleeping(2, at(10))], at(10));
      await suspended(store, "b", [sleeping(1, at(15))], at(15));
      await write(store, sendEvent("a", "e1", "x", { createdAt: at(20) }), at(20));
      equal(await claimIds(store, at(20)), ["a", "b"], "order of claims");
    },
  },
];
