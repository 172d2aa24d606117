import {
  claimIds,
  claimOne,
  committed,
  ended,
  erased,
  instance,
  snapshot,
  started,
  suspended,
  write,
} from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, matches } from "./check.ts";
import {
  at,
  awaiting,
  boundary,
  change,
  commit,
  complete,
  create,
  leaseMs,
  never,
  pause,
  ref,
  restart,
  resume,
  sleeping,
  terminate,
} from "./given.ts";

export const lifecycleCases: readonly Case[] = [
  {
    name: "a change is applied only in the named states and is otherwise refused with the state found",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      equal(
        await write(store, resume("a"), at(1)),
        { kind: "refused", status: "active", runNumber: 1 },
        "resume",
      );
      await write(store, pause("a"), at(2));
      const before = await snapshot(store, "a");
      equal(
        await write(store, pause("a"), at(3)),
        { kind: "refused", status: "paused", runNumber: 1 },
        "pause twice",
      );
      equal(await snapshot(store, "a"), before, "everything the run shows");
    },
  },
  {
    name: "a change may name the run it is meant for (row 92)",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      await write(store, restart("a"), at(1));
      const again = (runNumber: number) =>
        write(
          store,
          change("a", { kind: "restart", history: [] }, { statuses: ["active"], runNumber }),
          at(2),
        );
      equal(await again(1), { kind: "refused", status: "active", runNumber: 2 }, "meant for the run before");
      matches(await again(2), { kind: "changed", runNumber: 3 }, "meant for the current run");
    },
  },
  {
    name: "a change may name the token it was decided under: whatever moved it since makes the decision void (INV-35)",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      const decide = (token: number) =>
        write(store, change("a", { kind: "pause" }, { statuses: ["active", "waiting"], token }), at(2));
      const { token } = await instance(store, "a");
      const { lease } = await claimOne(store, "a", at(1));
      equal(await decide(token), { kind: "refused", status: "active", runNumber: 1 }, "claimed since");
      matches(await decide(lease.token), { kind: "changed", status: "paused" }, "nothing has happened since");
    },
  },
  {
    name: "a change to an unknown instance finds nothing",
    async run({ open }) {
      const store = await open();
      equal(await write(store, pause("nobody")), { kind: "not-found" }, "the outcome");
    },
  },
  {
    name: "an announcement is created with the end it belongs to, and only with it",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const announce = create("told");
      await committed(store, { ...commit(lease, boundary(1)), announce });
      equal(await store.getInstance(ref("told")), undefined, "after a commit that goes on");
      await write(store, pause("a"));
      await write(store, { ...commit(lease, boundary(2, { next: complete() })), announce });
      equal(await store.getInstance(ref("told")), undefined, "after an end that a pause dropped");
      await write(store, resume("a"), at(5));
      const again = (await claimOne(store, "a", at(5))).lease;
      await committed(store, { ...commit(again, boundary(1, { next: complete() })), announce }, at(6));
      matches(await instance(store, "told"), { status: "active", dueAt: at(0) }, "after the end");
    },
  },
  {
    name: "an announcement is created with the change it belongs to, not with one that is refused",
    async run({ open }) {
      const store = await open();
      await started(store, "a");
      const announce = create("told");
      const refused = change(
        "a",
        { kind: "terminate", reason: { source: "user", message: null } },
        { statuses: ["complete"] },
      );
      matches(await write(store, { ...refused, announce }), { kind: "refused" }, "the outcome");
      equal(await store.getInstance(ref("told")), undefined, "after a refusal");
      matches(await write(store, { ...terminate("a"), announce }), { kind: "changed" }, "the outcome");
      matches(await instance(store, "told"), { status: "active" }, "after the change");
    },
  },
  {
    name: "terminate ends an unfinished run for good, whatever it was doing",
    async run({ open }) {
      const store = await open();
      await write(store, create("active", { retentionMs: 100 }));
      await suspended(store, "waiting", [awaiting(1, "x", never)], never, { retentionMs: 100 });
      await store.write([create("paused", { retentionMs: 100 }), pause("paused")], at(0));
      await started(store, "leased", { retentionMs: 100 });
      for (const id of ["active", "waiting", "paused", "leased"]) {
        const outcome = await write(store, terminate(id), at(20));
        matches(
          outcome,
          { kind: "changed", status: "terminated", runNumber: 1, leased: id === "leased" },
          id,
        );
        matches(
          await instance(store, id),
          {
            status: "terminated",
            terminationReason: { source: "user", message: "enough" },
            completedAt: at(20),
            retentionUntil: at(120),
            pausedAt: null,
            executing: false,
            dueAt: null,
          },
          id,
        );
      }
      equal(await claimIds(store, never), [], "claimable");
      equal(await store.nextDueAt(["order"]), null, "next due time");
    },
  },
  {
    name: "a wake makes a run due now, under the token it was meant for",
    async run({ open }) {
      const store = await open();
      const claim = await suspended(store, "a", [sleeping(1, never)], never);
      const { runId, token } = claim.lease;
      equal(
        await write(store, { kind: "wake", runId, token: token - 1 }, at(5)),
        { kind: "ignored" },
        "stale token",
      );
      equal(await claimIds(store, at(5)), [], "claimable after a stale wake");
      equal(await write(store, { kind: "wake", runId, token }, at(6)), { kind: "woken" }, "right token");
      equal(await claimIds(store, at(6)), ["a"], "claimable");
    },
  },
  {
    name: "a wake is ignored by runs that are leased, paused, ended or unknown",
    async run({ open }) {
      const store = await open();
      const leased = await started(store, "leased");
      const paused = await suspended(store, "paused", [sleeping(1, never)], never);
      await write(store, pause("paused"), at(1));
      const over = await ended(store, "over", complete());
      const removed = await ended(store, "removed", complete());
      await erased(store, ref("removed"));
      for (const { instanceId, lease } of [leased, paused, over, removed]) {
        equal(
          await write(store, { kind: "wake", runId: lease.runId, token: lease.token }, at(2)),
          { kind: "ignored" },
          instanceId,
        );
      }
      equal((await instance(store, "leased")).dueAt, at(leaseMs), "the lease");
      equal(await claimIds(store, at(3)), [], "claimable");
    },
  },
];
