import type { InstanceRecord } from "../../model/instance.ts";
import type { SendEventRequest } from "../../model/request.ts";
import {
  claimIds,
  claimOne,
  committed,
  ended,
  eventsOf,
  instance,
  started,
  stepsOf,
  suspended,
  undelivered,
  write,
} from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, isTrue, matches } from "./check.ts";
import {
  at,
  awaiting,
  boundary,
  commit,
  complete,
  completed,
  create,
  errorOut,
  leaseMs,
  never,
  pause,
  received,
  ref,
  restart,
  resume,
  sendEvent,
  sleeping,
  suspendUntil,
  terminate,
  timedOut,
  value,
} from "./given.ts";

export const eventCases: readonly Case[] = [
  {
    name: "an accepted event is kept until it is consumed, with all it carries (INV-22)",
    async run({ open }) {
      const store = await open();
      const created = await write(store, create("a"));
      isTrue(created.kind === "created", "created");
      const outcome = await write(
        store,
        sendEvent("a", "e1", "approved", { payload: value({ ok: true }), createdAt: at(3) }),
        at(4),
      );
      equal(
        outcome,
        { kind: "accepted", runId: created.runId, status: "active", duplicate: false, woke: false },
        "the outcome",
      );
      const event = {
        seq: 1,
        id: "e1",
        type: "approved",
        topic: null,
        forStep: null,
        system: false,
        payload: value({ ok: true }),
        createdAt: at(3),
        deliveredAt: null,
        consumedBy: null,
      };
      equal(await undelivered(store, created.runId), [event], "undelivered");
      equal(await eventsOf(store, created.runId), [event], "listed");
    },
  },
  {
    name: "events keep their order of acceptance, also within one millisecond (INV-24, scenario 76)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const ids = Array.from({ length: 30 }, (_unused, n) => `e${(n * 7) % 30}`);
      for (const id of ids.slice(0, 10)) await write(store, sendEvent("a", id, "x"), at(1));
      await store.write(
        ids.slice(10).map((id) => sendEvent("a", id, "x")),
        at(1),
      );
      const events = await undelivered(store, claim.lease.runId);
      equal(
        events.map((event) => event.id),
        ids,
        "order",
      );
      equal(
        events.map((event) => event.seq),
        ids.map((_unused, n) => n + 1),
        "sequence",
      );
    },
  },
  {
    name: "consuming an event commits with the wait it completes, and takes that event only (INV-11, INV-24)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await store.write(
        [sendEvent("a", "e1", "x"), sendEvent("a", "e2", "x"), sendEvent("a", "e3", "y")],
        at(1),
      );
      const done = received(awaiting(1, "x", never));
      await committed(
        store,
        commit(
          claim.lease,
          boundary(1, { steps: [done], consumed: [{ seq: 1, stepKey: done.key }], eventSeqSeen: 3 }),
        ),
        at(5),
      );
      equal(
        (await undelivered(store, claim.lease.runId)).map((e) => e.id),
        ["e2", "e3"],
        "undelivered",
      );
      matches(
        (await eventsOf(store, claim.lease.runId))[0],
        { deliveredAt: at(5), consumedBy: done.key },
        "the event",
      );
      equal(await stepsOf(store, claim.lease.runId), [done], "steps");
    },
  },
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
    name: "events of the engine itself are delivered but not listed (row 121)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await store.write(
        [sendEvent("a", "e1", null, { forStep: "nap#1", system: true }), sendEvent("a", "e2", "x")],
        at(1),
      );
      equal(
        (await undelivered(store, claim.lease.runId)).map((e) => e.id),
        ["e1", "e2"],
        "delivered",
      );
      equal(
        (await eventsOf(store, claim.lease.runId)).map((e) => e.id),
        ["e2"],
        "listed",
      );
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
  {
    name: "an event id is accepted once and answered alike, even after the run ended (INV-25, scenario 87)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await write(store, sendEvent("a", "e1", "x", { payload: value("first") }), at(1));
      const again = await write(store, sendEvent("a", "e1", "x", { payload: value("second") }), at(2));
      matches(again, { kind: "accepted", duplicate: true, woke: false }, "the second");
      equal(
        (await eventsOf(store, claim.lease.runId)).map((e) => e.payload),
        [value("first")],
        "events",
      );
      await write(store, terminate("a"), at(3));
      const late = await write(store, sendEvent("a", "e1", "x"), at(4));
      matches(late, { kind: "accepted", duplicate: true, status: "terminated" }, "after the end");
    },
  },
  {
    name: "the same event id twice in one batch is one event",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const outcomes = await store.write([sendEvent("a", "e1", "x"), sendEvent("a", "e1", "x")], at(1));
      equal(
        outcomes.map((o) => o.kind === "accepted" && o.duplicate),
        [false, true],
        "duplicates",
      );
      equal((await undelivered(store, claim.lease.runId)).length, 1, "events");
    },
  },
  {
    name: "an event id belongs to its instance: to another it means nothing, and is shown as it was given",
    async run({ open }) {
      const store = await open();
      await store.write([create("a"), create("b"), create("a", { workflowName: "bill" })], at(0));
      const sends = [
        sendEvent("a", "e1", "x"),
        sendEvent("b", "e1", "x"),
        sendEvent("a", "e1", "x", { workflowName: "bill" }),
      ];
      for (const send of sends) matches(await write(store, send), { duplicate: false }, send.instanceId);
      for (const send of sends) matches(await write(store, send), { duplicate: true }, "again");
      matches((await store.write(sends, at(1)))[1], { duplicate: true }, "again, all together");
      for (const send of sends) {
        const run = await store.getInstance(send);
        const [event, ...others] = await undelivered(store, (run as InstanceRecord).runId);
        equal([event?.id, others], ["e1", []], "what it has got");
      }
      await store.remove(ref("b"));
      matches(
        await write(store, sends[0] as SendEventRequest),
        { duplicate: true },
        "after the other is gone",
      );
    },
  },
  {
    name: "no id can be given that looks like one that the store makes itself",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const serial = String(lease.runId);
      const ids = [
        "e1",
        `~${serial}:e1`,
        "~77:e1",
        `~5:order:1:a:e1`,
        "~",
        "~:",
        "~p:e1",
        `~p:p1:${serial}:1`,
        `p1:${serial}:1`,
      ];
      for (const id of ids) matches(await write(store, sendEvent("a", id, "x")), { duplicate: false }, id);
      for (const id of ids) matches(await write(store, sendEvent("a", id, "x")), { duplicate: true }, id);
      equal(
        (await undelivered(store, lease.runId)).map(({ id }) => id),
        ids,
        "as they were given",
      );
    },
  },
  {
    name: "an event for an unknown instance creates nothing (scenario 99)",
    async run({ open }) {
      const store = await open();
      equal(await write(store, sendEvent("nobody", "e1", "x")), { kind: "not-found" }, "the outcome");
      equal(await store.getInstance(ref("nobody")), undefined, "the instance");
      await write(store, create("a"));
      matches(
        await write(store, sendEvent("a", "e1", "x")),
        { kind: "accepted", duplicate: false },
        "the id is free",
      );
    },
  },
  {
    name: "an ended instance refuses events and says how it ended (scenario 86)",
    async run({ open }) {
      const store = await open();
      await ended(store, "complete", complete());
      await ended(store, "errored", errorOut("no"));
      await store.write([create("terminated"), terminate("terminated")], at(0));
      for (const status of ["complete", "errored", "terminated"] as const) {
        equal(
          await write(store, sendEvent(status, `e ${status}`, "x"), at(1)),
          { kind: "terminal", status },
          status,
        );
        equal(
          await eventsOf(store, (await instance(store, status)).runId),
          [],
          `events of the ${status} one`,
        );
      }
    },
  },
  {
    name: "a run holds so many undelivered events and no more; consumed ones and the engine's own do not count",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const send = (id: string, system = false) =>
        write(store, sendEvent("a", id, "x", { bufferMax: 2, system }), at(1));
      equal((await send("system 1", true)).kind, "accepted", "an event of the engine");
      equal((await send("e1")).kind, "accepted", "the first");
      equal((await send("e2")).kind, "accepted", "the second");
      equal(await send("e3"), { kind: "buffer-full" }, "the third");
      equal((await send("system 2", true)).kind, "accepted", "the engine is never refused");
      matches(await send("e2"), { kind: "accepted", duplicate: true }, "a repeat of one that was accepted");
      await committed(
        store,
        commit(claim.lease, boundary(1, { consumed: [{ seq: 2, stepKey: "k" }] })),
        at(2),
      );
      matches(await send("e3"), { kind: "accepted", duplicate: false }, "the third, once there is room");
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
    name: "events belong to the run that was current when they came: a restart starts without them (INV-27, INV-38)",
    async run({ open }) {
      const store = await open();
      const old = await started(store, "a");
      await write(store, sendEvent("a", "e1", "x"), at(1));
      await write(store, restart("a"), at(2));
      const claim = await claimOne(store, "a", at(2));
      equal(claim.eventSeq, 0, "eventSeq of the new run");
      equal(await undelivered(store, claim.lease.runId), [], "undelivered in the new run");
      equal(
        (await eventsOf(store, old.lease.runId)).map((e) => e.id),
        ["e1"],
        "events of the old run",
      );
      matches(
        await write(store, sendEvent("a", "e1", "x"), at(3)),
        { duplicate: true, runId: old.lease.runId },
        "the old event once more, with the run that has it",
      );
      const fresh = await write(store, sendEvent("a", "e2", "x"), at(3));
      matches(fresh, { kind: "accepted", runId: claim.lease.runId, duplicate: false }, "a new event");
      equal(
        (await undelivered(store, claim.lease.runId)).map((e) => e.seq),
        [1],
        "sequence in the new run",
      );
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
