import {
  claimIds,
  claimOne,
  committed,
  ended,
  instance,
  started,
  superseded,
  suspended,
  write,
} from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, matches } from "./check.ts";
import {
  at,
  awaiting,
  boundary,
  commit,
  complete,
  completed,
  create,
  deletion,
  never,
  pause,
  ref,
  restart,
  sendEvent,
  suspendUntil,
  terminate,
  value,
  workflow,
} from "./given.ts";

const terminal = { statuses: ["complete", "errored", "terminated"] } as const;

/** That everything goes, in every status, is said by the cases of `prune`. */
export const deleteCases: readonly Case[] = [
  {
    name: "a deletion that wants an end is refused until there is one, and changes nothing",
    async run({ open }) {
      const store = await open();
      const claim = await suspended(store, "a", [awaiting(1, "x", never)], never);
      equal(
        await write(store, deletion(ref("a"), terminal), at(1)),
        { kind: "refused", status: "waiting", runNumber: 1 },
        "of a waiting one",
      );
      matches(await write(store, sendEvent("a", "e1", "x"), at(1)), { woke: true }, "an event for it");
      equal((await instance(store, "a")).status, "waiting", "its status");
      await write(store, terminate("a"), at(2));
      equal(
        await write(store, deletion(ref("a"), terminal), at(3)),
        { kind: "deleted", runId: claim.lease.runId, status: "terminated" },
        "of one that ended",
      );
      equal(await write(store, deletion(ref("a"), terminal), at(4)), { kind: "not-found" }, "once more");
    },
  },
  {
    name: "a deletion names the current run, and goes for every run before it",
    async run({ open }) {
      const store = await open();
      const first = await started(store, "a");
      await write(store, restart("a"), at(1));
      const second = await claimOne(store, "a", at(1));
      const when = { firstRun: first.lease.runId };
      matches(
        await write(store, deletion(ref("a"), { ...terminal, ...when }), at(2)),
        { kind: "refused", status: "active", runNumber: 2 },
        "of one that was restarted",
      );
      equal(
        await write(store, deletion(ref("a"), when), at(2)),
        { kind: "deleted", runId: second.lease.runId, status: "active" },
        "whatever its status",
      );
      equal(await store.listRuns(ref("a"), 10), [], "its runs");
    },
  },
  {
    name: "a deletion of one instance leaves the next one of the same id alone",
    async run({ open }) {
      const store = await open();
      const old = await ended(store, "a", complete());
      const request = deletion(ref("a"), { firstRun: old.lease.runId });
      matches(await write(store, request, at(1)), { kind: "deleted" }, "the deletion");
      await ended(store, "a", complete("again"), {}, at(2));
      equal(await write(store, request, at(3)), { kind: "not-found" }, "its repeat");
      equal((await instance(store, "a")).output, value("again"), "the next instance");
    },
  },
  {
    name: "what was under way when its instance was deleted writes nothing into the next one",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      await committed(store, commit(lease, boundary(1, { steps: [completed(1)] })), at(1));
      await write(store, deletion(ref("a")), at(2));
      const next = await started(store, "a", { params: value("next") }, at(3));
      await superseded(store, commit(lease, boundary(1, { steps: [completed(1)] })), at(4));
      await superseded(
        store,
        commit(lease, boundary(2, { steps: [completed(2)], next: complete() }), {
          alongside: [create("child")],
          announce: create("told"),
        }),
        at(4),
      );
      equal(await store.renew([{ lease, begun: [] }], never, at(4)), [{ kind: "lost" }], "the old lease");
      await store.release([lease], at(4));
      matches(
        await write(store, { kind: "wake", runId: lease.runId, token: lease.token }, at(4)),
        { kind: "ignored" },
        "its wake",
      );
      for (const id of ["child", "told"]) equal(await store.getInstance(ref(id)), undefined, `"${id}"`);
      matches(
        await instance(store, "a"),
        { runId: next.lease.runId, status: "active", executing: true, params: value("next") },
        "the next instance",
      );
      equal((await store.listSteps(next.lease.runId, { limit: 5 })).items, [], "its steps");
    },
  },
  {
    name: "events and change ids of a deleted instance are new to the next one",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      await write(store, sendEvent("a", "e1", "x"), at(1));
      const paused = { ...pause("a"), id: "once" };
      matches(await write(store, paused, at(1)), { kind: "changed", status: "paused" }, "the pause");
      await write(store, deletion(ref("a")), at(2));
      matches(
        await write(store, sendEvent("a", "e2", "x"), at(2)),
        { kind: "not-found" },
        "an event for nobody",
      );
      matches(await write(store, paused, at(2)), { kind: "not-found" }, "a change of nobody");
      const next = await started(store, "a", {}, at(3));
      await committed(
        store,
        commit(next.lease, boundary(1, { steps: [awaiting(1, "x", never)], next: suspendUntil(never) })),
        at(3),
      );
      equal((await instance(store, "a")).status, "waiting", "the next one waits for an event of its own");
      matches(
        await write(store, sendEvent("a", "e1", "x"), at(4)),
        { duplicate: false, woke: true },
        "its event",
      );
      matches(await write(store, paused, at(5)), { kind: "changed", status: "paused" }, "its pause");
    },
  },
  {
    name: "a batch may delete an instance and create it again",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const paused = { ...pause("a"), id: "once" };
      const outcomes = await store.write(
        [
          paused,
          sendEvent("a", "e1", "x"),
          deletion(ref("a")),
          commit(lease, boundary(1, { steps: [completed(1)] })),
          sendEvent("a", "e2", "x"),
          create("a", { params: value("next") }),
          paused,
          sendEvent("a", "e1", "x"),
          deletion(ref("b")),
        ],
        at(1),
      );
      equal(
        outcomes.map(({ kind }) => kind),
        [
          "changed",
          "accepted",
          "deleted",
          "superseded",
          "not-found",
          "created",
          "changed",
          "accepted",
          "not-found",
        ],
        "outcomes",
      );
      matches(outcomes[7], { duplicate: false }, "the event of the next one");
      matches(
        await instance(store, "a"),
        { status: "paused", runNumber: 1, params: value("next") },
        "the next instance",
      );
      equal(await claimIds(store, at(2)), [], "what can be claimed");
      equal(await store.nextDueAt([workflow]), null, "next due time");
    },
  },
];
