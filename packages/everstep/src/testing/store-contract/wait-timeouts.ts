import { claimIds, claimOne, committed, stepsOf, suspended, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal } from "./check.ts";
import {
  at,
  awaiting,
  boundary,
  commit,
  completed,
  sendEvent,
  sleeping,
  suspendUntil,
  timedOut,
} from "./given.ts";

export const waitTimeoutCases: readonly Case[] = [
  {
    name: "a wait times out when no event came in time",
    async run({ open }) {
      const store = await open();
      const wait = awaiting(1, "x", at(100));
      await suspended(store, "a", [wait], at(100));
      const claim = await claimOne(store, "a", at(100));
      await write(store, sendEvent("a", "e1", "x", { createdAt: at(101) }), at(101));
      const outcome = await committed(
        store,
        commit(claim.lease, boundary(1, { timeouts: [{ wait, settled: timedOut(wait) }] })),
        at(102),
      );
      equal(outcome.timeoutsRefused, false, "timeoutsRefused");
      equal(await stepsOf(store, claim.lease.runId), [timedOut(wait)], "steps");
    },
  },
  {
    name: "an event in time beats the timeout that had not seen it: none of the timeouts is applied (INV-26)",
    async run({ open }) {
      const store = await open();
      const wait = awaiting(1, "x", at(100));
      const other = awaiting(2, "y", at(100));
      await suspended(store, "a", [wait, other], at(100));
      const claim = await claimOne(store, "a", at(100));
      await write(store, sendEvent("a", "e1", "y", { createdAt: at(100) }), at(101));
      const outcome = await committed(
        store,
        commit(
          claim.lease,
          boundary(1, {
            steps: [completed(3)],
            timeouts: [
              { wait, settled: timedOut(wait) },
              { wait: other, settled: timedOut(other) },
            ],
          }),
        ),
        at(102),
      );
      equal(outcome, { kind: "committed", eventSeq: 1, timeoutsRefused: true, dueNow: false }, "the commit");
      equal(await stepsOf(store, claim.lease.runId), [wait, other, completed(3)], "steps");
    },
  },
  {
    name: "a suspend whose timeouts were refused is due now",
    async run({ open }) {
      const store = await open();
      const wait = awaiting(1, "x", at(100));
      const nap = sleeping(2, at(900));
      await suspended(store, "a", [wait, nap], at(100));
      const claim = await claimOne(store, "a", at(100));
      await write(store, sendEvent("a", "e1", "x", { createdAt: at(99) }), at(101));
      const outcome = await committed(
        store,
        commit(
          claim.lease,
          boundary(1, { timeouts: [{ wait, settled: timedOut(wait) }], next: suspendUntil(at(900)) }),
        ),
        at(102),
      );
      equal(outcome, { kind: "committed", eventSeq: 1, timeoutsRefused: true, dueNow: true }, "the commit");
      equal(await claimIds(store, at(102)), ["a"], "claimable");
    },
  },
  {
    name: "a timeout is not refused for an event the turn has seen",
    async run({ open }) {
      const store = await open();
      const wait = awaiting(1, "x", at(100));
      await suspended(store, "a", [wait], at(100));
      await write(store, sendEvent("a", "e1", "x", { createdAt: at(50) }), at(100));
      const claim = await claimOne(store, "a", at(100));
      const outcome = await committed(
        store,
        commit(claim.lease, boundary(1, { timeouts: [{ wait, settled: timedOut(wait) }], eventSeqSeen: 1 })),
        at(100),
      );
      equal(outcome.timeoutsRefused, false, "timeoutsRefused");
    },
  },
  {
    name: "a repeat of a commit whose timeouts were refused says so again (INV-26, INV-42)",
    async run({ open }) {
      const store = await open();
      const wait = awaiting(1, "x", at(100));
      await suspended(store, "a", [wait], at(100));
      const claim = await claimOne(store, "a", at(100));
      await write(store, sendEvent("a", "e1", "x", { createdAt: at(99) }), at(100));
      const request = commit(claim.lease, boundary(1, { timeouts: [{ wait, settled: timedOut(wait) }] }));
      equal((await committed(store, request, at(101))).timeoutsRefused, true, "at first");
      // A runner that took the repeat for an applied timeout would go on from an end that is not in the store.
      equal((await committed(store, request, at(102))).timeoutsRefused, true, "on repeat");
    },
  },
];
