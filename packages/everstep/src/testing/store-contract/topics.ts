import { claimIds, claimOne, committed, instance, started, suspended, undelivered, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, isTrue, matches } from "./check.ts";
import {
  at,
  awaiting,
  awaitingTopic,
  boundary,
  commit,
  complete,
  leaseMs,
  never,
  pause,
  publish,
  received,
  restart,
  resume,
  sendEvent,
  suspendUntil,
  terminate,
  timedOut,
  value,
  workflow,
} from "./given.ts";

export const topicCases: readonly Case[] = [
  {
    name: "a publication reaches every run that waits on its topic, and none else (scenario 93)",
    async run({ open }) {
      const store = await open();
      const a = await suspended(store, "a", [awaitingTopic(1, "stock.low", never)], never);
      const b = await suspended(store, "b", [awaitingTopic(1, "stock.low", never)], never, {
        workflowName: "bill",
      });
      await suspended(store, "other topic", [awaitingTopic(1, "stock.Low", never)], never);
      await suspended(store, "event type", [awaiting(1, "stock.low", never)], never);
      const outcome = await write(store, publish("p1", "stock.low"), at(5));
      matches(outcome, { kind: "published", waiters: 2, duplicate: false }, "the outcome");
      equal(
        outcome.runIds.map(String).toSorted(),
        [a, b].map(({ lease }) => String(lease.runId)).toSorted(),
        "runs",
      );
      const workflows = [
        { name: workflow, concurrency: null },
        { name: "bill", concurrency: null },
      ];
      equal((await claimIds(store, at(5), { workflows })).toSorted(), ["a", "b"], "due now");
    },
  },
  {
    name: "a publication is stored as one event per wait, addressed to it, before anybody wakes (scenario 94)",
    async run({ open }) {
      const store = await open();
      const wait = awaitingTopic(3, "news", never);
      const { lease } = await suspended(store, "a", [wait], never);
      await write(store, publish("p1", "news", { payload: value({ hot: true }), createdAt: at(4) }), at(5));
      equal(
        await undelivered(store, lease.runId),
        [
          {
            seq: 1,
            id: `p1:${lease.runId}:3`,
            type: null,
            topic: "news",
            forStep: wait.key,
            system: false,
            payload: value({ hot: true }),
            createdAt: at(4),
            deliveredAt: null,
            consumedBy: null,
          },
        ],
        "undelivered",
      );
      matches(await claimOne(store, "a", at(5)), { eventSeq: 1, crashCount: 0 }, "the claim");
    },
  },
  {
    name: "two waits of one run on a topic get an event each; the run is named once",
    async run({ open }) {
      const store = await open();
      const waits = [awaitingTopic(1, "news", never), awaitingTopic(2, "news", never)];
      const { lease } = await suspended(store, "a", waits, never);
      const outcome = await write(store, publish("p1", "news"), at(5));
      matches(outcome, { waiters: 2, runIds: [lease.runId] }, "the outcome");
      const events = await undelivered(store, lease.runId);
      equal(
        events.map((event) => event.forStep).toSorted(),
        waits.map((wait) => wait.key),
        "addressed to",
      );
    },
  },
  {
    name: "a wait that has its publication is not found by the next, though nobody has resumed it yet (scenario 95)",
    async run({ open }) {
      const store = await open();
      const { lease } = await suspended(store, "a", [awaitingTopic(1, "news", never)], never);
      await write(store, publish("p1", "news"), at(5));
      matches(await write(store, publish("p2", "news"), at(6)), { waiters: 0, runIds: [] }, "the second");
      equal((await undelivered(store, lease.runId)).length, 1, "events of the wait");
    },
  },
  {
    name: "a publication is remembered until it is pruned; then its id is new again (INV-48)",
    async run({ open }) {
      const store = await open();
      await write(store, publish("p1", "news", { createdAt: at(5) }), at(5));
      await store.prune({ before: at(5), limit: 10, publicationsBefore: at(5) });
      matches(await write(store, publish("p1", "news"), at(6)), { duplicate: true }, "remembered");
      await store.prune({ before: at(6), limit: 10, publicationsBefore: at(6) });
      matches(await write(store, publish("p1", "news"), at(7)), { duplicate: false }, "forgotten");
    },
  },
  {
    name: "a publication repeated is answered alike and sends nothing twice, whoever waits by then (INV-25)",
    async run({ open }) {
      const store = await open();
      const { lease } = await suspended(store, "a", [awaitingTopic(1, "news", never)], never);
      const first = await write(store, publish("p1", "news"), at(5));
      const late = await suspended(store, "late", [awaitingTopic(1, "news", never)], never);
      matches(
        await write(store, publish("p1", "news"), at(6)),
        { kind: "published", waiters: first.waiters, duplicate: true },
        "the repeat",
      );
      equal((await undelivered(store, lease.runId)).length, 1, "events of the first");
      equal((await undelivered(store, late.lease.runId)).length, 0, "events of the late one");
    },
  },
  {
    name: "a publication id belongs to its topic: on another it means nothing, and nobody can use it up beforehand",
    async run({ open }) {
      const store = await open();
      const { lease } = await suspended(store, "a", [awaitingTopic(1, "news", at(100))], at(100));
      await suspended(store, "b", [awaitingTopic(1, "b:news", at(100))], at(100));
      await write(store, sendEvent("a", `p1:${lease.runId}:1`, "x"));
      const topics = ["news", "b:news", "b", "b%3Anews", "ä".repeat(128)];
      const waiters = [1, 1, 0, 0, 0];
      for (const [n, topic] of topics.entries()) {
        const said = { waiters: waiters[n], duplicate: false };
        matches(await write(store, publish("p1", topic), at(5)), said, topic);
      }
      for (const topic of topics)
        matches(await write(store, publish("p1", topic), at(6)), { duplicate: true }, topic);
      for (const id of ["~news:p1", "~4:news:p1", "news:p1"]) {
        matches(await write(store, publish(id, "news"), at(7)), { duplicate: false }, id);
      }
    },
  },
  {
    name: "the same publication twice in one batch is sent once",
    async run({ open }) {
      const store = await open();
      const { lease } = await suspended(store, "a", [awaitingTopic(1, "news", never)], never);
      const outcomes = await store.write([publish("p1", "news"), publish("p1", "news")], at(5));
      equal(
        outcomes.map((outcome) => outcome.kind === "published" && outcome.duplicate),
        [false, true],
        "duplicates",
      );
      equal((await undelivered(store, lease.runId)).length, 1, "events");
    },
  },
  {
    name: "a wait is resolved once: what it has received it does not receive again (scenario 95)",
    async run({ open }) {
      const store = await open();
      const wait = awaitingTopic(1, "news", never);
      await suspended(store, "a", [wait], never);
      await write(store, publish("p1", "news"), at(5));
      const claim = await claimOne(store, "a", at(5));
      await committed(
        store,
        commit(
          claim.lease,
          boundary(1, {
            steps: [received(wait)],
            consumed: [{ seq: 1, stepKey: wait.key }],
            eventSeqSeen: 1,
            next: suspendUntil(never),
          }),
        ),
        at(6),
      );
      matches(
        await write(store, publish("p2", "news"), at(7)),
        { waiters: 0, runIds: [] },
        "the second publication",
      );
      equal(await claimIds(store, at(7)), [], "due now");
    },
  },
  {
    name: "a publication nobody waits for is gone: a later wait does not get it",
    async run({ open }) {
      const store = await open();
      matches(
        await write(store, publish("p1", "news"), at(1)),
        { waiters: 0, duplicate: false },
        "the outcome",
      );
      const { lease } = await suspended(store, "a", [awaitingTopic(1, "news", never)], never, {}, at(2));
      equal(await undelivered(store, lease.runId), [], "undelivered");
      equal(await claimIds(store, at(3)), [], "due now");
    },
  },
  {
    name: "a wait that is over is not reached, one that ends in this very millisecond is (INV-26)",
    async run({ open }) {
      const store = await open();
      await suspended(store, "over", [awaitingTopic(1, "news", at(99))], never);
      const last = await suspended(store, "last moment", [awaitingTopic(1, "news", at(100))], never);
      const outcome = await write(store, publish("p1", "news", { createdAt: at(100) }), at(100));
      matches(outcome, { waiters: 1, runIds: [last.lease.runId] }, "the outcome");
      equal(await claimIds(store, at(100)), ["last moment"], "due now");
    },
  },
  {
    name: "waits of runs that ended or were restarted are not reached (INV-38, scenario 162)",
    async run({ open }) {
      const store = await open();
      const wait = awaitingTopic(1, "news", never);
      for (const id of ["terminated", "restarted"]) await suspended(store, id, [wait], never);
      await store.write([terminate("terminated"), restart("restarted")], at(1));
      const claim = await started(store, "complete");
      await committed(store, commit(claim.lease, boundary(1, { steps: [wait], next: complete() })), at(1));
      matches(await write(store, publish("p1", "news"), at(2)), { waiters: 0 }, "the outcome");
    },
  },
  {
    name: "a paused run gets its event and is woken by resume, not by the publication",
    async run({ open }) {
      const store = await open();
      const { lease } = await suspended(store, "a", [awaitingTopic(1, "news", never)], never);
      await write(store, pause("a"), at(1));
      matches(await write(store, publish("p1", "news"), at(2)), { waiters: 1 }, "the outcome");
      equal((await instance(store, "a")).status, "paused", "status");
      equal(await claimIds(store, at(2)), [], "claimable while paused");
      equal((await undelivered(store, lease.runId)).length, 1, "undelivered");
      await write(store, resume("a"), at(3));
      equal(await claimIds(store, at(3)), ["a"], "claimable after resume");
    },
  },
  {
    name: "a run at work gets its event without losing its lease, and its suspend is due now (INV-23)",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      await committed(store, commit(lease, boundary(1, { steps: [awaitingTopic(1, "news", never)] })), at(1));
      matches(
        await write(store, publish("p1", "news"), at(2)),
        { waiters: 1, runIds: [lease.runId] },
        "the outcome",
      );
      matches(await instance(store, "a"), { executing: true, dueAt: at(leaseMs) }, "the lease");
      const outcome = await committed(
        store,
        commit(lease, boundary(2, { next: suspendUntil(never) })),
        at(3),
      );
      equal(outcome.dueNow, true, "dueNow");
    },
  },
  {
    name: "a publication in time beats the timeout that had not seen it (INV-26)",
    async run({ open }) {
      const store = await open();
      const wait = awaitingTopic(1, "news", at(100));
      await suspended(store, "a", [wait], at(100));
      const claim = await claimOne(store, "a", at(100));
      matches(
        await write(store, publish("p1", "news", { createdAt: at(100) }), at(100)),
        { waiters: 1 },
        "published",
      );
      const outcome = await committed(
        store,
        commit(claim.lease, boundary(1, { timeouts: [{ wait, settled: timedOut(wait) }] })),
        at(101),
      );
      equal(outcome.timeoutsRefused, true, "timeoutsRefused");
    },
  },
  {
    name: "a wait registered earlier in the same batch is reached, one registered later is not",
    async run({ open }) {
      const store = await open();
      const early = await started(store, "early");
      const late = await started(store, "late");
      const suspend = boundary(1, { steps: [awaitingTopic(1, "news", never)], next: suspendUntil(never) });
      const outcomes = await store.write(
        [commit(early.lease, suspend), publish("p1", "news"), commit(late.lease, suspend)],
        at(1),
      );
      matches(outcomes[1], { waiters: 1, runIds: [early.lease.runId] }, "the publication");
      equal(await claimIds(store, at(1)), ["early"], "due now");
    },
  },
  {
    name: "any number of waiters is reached by one publication (scenario 96)",
    async run({ open }) {
      const store = await open();
      for (let n = 0; n < 600; n += 1) {
        await suspended(store, `i${n}`, [awaitingTopic(1, "news", never)], never);
      }
      matches(await write(store, publish("p1", "news"), at(1)), { waiters: 600 }, "the outcome");
      equal((await claimIds(store, at(1), { limit: 1000 })).length, 600, "due now");
    },
  },
  {
    name: "an ordinary event for a run that waits on a topic does not end its wait",
    async run({ open }) {
      const store = await open();
      await suspended(store, "a", [awaitingTopic(1, "news", never)], never);
      const outcome = await write(store, sendEvent("a", "e1", "news"), at(1));
      isTrue(outcome.kind === "accepted" && !outcome.woke, "accepted without waking");
    },
  },
];
