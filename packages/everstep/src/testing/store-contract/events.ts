import {
  claimOne,
  committed,
  ended,
  eventsOf,
  instance,
  started,
  stepsOf,
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
  create,
  errorOut,
  never,
  received,
  ref,
  restart,
  sendEvent,
  terminate,
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
];
