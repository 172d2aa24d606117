/** What a store answers to those who hold leases, and to their requests, when it has forgotten its last writes. */
import type { Store, StoreRequest } from "everstep/store";
import { expect } from "vitest";
import {
  claimIds,
  claimOne,
  committed,
  instance,
  snapshot,
  started,
  stepsOf,
  superseded,
  write,
} from "../../packages/everstep/src/testing/store-contract/acts.ts";
import {
  at,
  boundary,
  commit,
  complete,
  completed,
  create,
  leaseMs,
  never,
  ref,
  suspendUntil,
  value,
} from "../regressions/given.ts";
import type { Story } from "./story.ts";

type Lease = Parameters<typeof commit>[0];

/** A new instance in the hands of this owner. */
function startedBy(owner: string, store: Store, id: string): ReturnType<typeof started> {
  return started(store, id, { lease: { owner, until: at(leaseMs) } });
}

/** Whatever the holder of this lease asks for, nothing changes, and it is told so. */
async function expectShutOut(
  store: Store,
  lease: Lease,
  now: number,
  watched: readonly string[],
): Promise<void> {
  const look = () => Promise.all(watched.map((id) => snapshot(store, id)));
  const before = await look();
  for (const number of [1, 2, 3, 4]) {
    const step = completed(number, { result: value("of a lease that is gone") });
    await superseded(store, commit(lease, boundary(number, { steps: [step] }), { leaseUntil: never }), now);
    await superseded(store, commit(lease, boundary(number, { next: complete("of nobody") })), now);
  }
  // In one batch, which takes another way through some stores, and with something alongside, which takes the longest.
  const batch: StoreRequest[] = [1, 2].map((number) => commit(lease, boundary(number, { next: complete() })));
  expect(await store.write(batch, now)).toEqual(batch.map(() => ({ kind: "superseded" })));
  const withChild = commit(lease, boundary(1), { alongside: [create("child of nobody")] });
  await superseded(store, withChild, now);
  expect(await store.getInstance(ref("child of nobody"))).toBeUndefined();
  for (const number of [undefined, 0, 1, 2]) {
    const renewal = { lease, begun: [], ...(number === undefined ? {} : { commit: number }) };
    expect(await store.renew([renewal], never, now)).toEqual([{ kind: "lost" }]);
  }
  await store.release([lease], now);
  expect(await write(store, { kind: "wake", runId: lease.runId, token: lease.token }, now)).toEqual({
    kind: "ignored",
  });
  expect(await look()).toEqual(before);
}

export const storeStories: readonly Story[] = [
  {
    name: "a claim is lost and another process claims: the first is shut out before, between and after the other's commits",
    async *tell({ a, b }) {
      await write(a.store, create("x"));
      yield;
      const lost = (await claimOne(a.store, "x", at(0), { owner: "A" })).lease;
      yield;
      const { lease } = await claimOne(b.store, "x", at(1), { owner: "B" });
      expect(lease.runId).toBe(lost.runId);
      await expectShutOut(a.store, lost, at(2), ["x"]);
      await committed(b.store, commit(lease, boundary(1, { steps: [completed(1)] })), at(3));
      // Its own first commit now has the number of one that is there.
      await expectShutOut(a.store, lost, at(4), ["x"]);
      expect(await claimIds(a.store, at(5), { owner: "C" }), "the lease in force was not given back").toEqual(
        [],
      );
      await committed(b.store, commit(lease, boundary(2, { next: complete("of B") })), at(6));
      await expectShutOut(a.store, lost, at(7), ["x"]);
      expect(await instance(b.store, "x")).toMatchObject({ status: "complete", output: value("of B") });
    },
  },
  {
    name: "a claim and its commits are lost and another process claims: nothing of the first is taken for the other's",
    async *tell({ a, b }) {
      await write(a.store, create("x"));
      yield;
      const lost = (await claimOne(a.store, "x", at(0), { owner: "A" })).lease;
      await committed(a.store, commit(lost, boundary(1, { steps: [completed(1)] })), at(1));
      await committed(a.store, commit(lost, boundary(2, { steps: [completed(2)] })), at(2));
      yield;
      const { lease, fresh } = await claimOne(b.store, "x", at(3), { owner: "B" });
      expect(fresh).toBe(true);
      await expectShutOut(a.store, lost, at(4), ["x"]);
      const other = completed(1, { result: value("of B") });
      await committed(b.store, commit(lease, boundary(1, { steps: [other] })), at(5));
      const second = completed(2, { result: value("of B too") });
      await committed(b.store, commit(lease, boundary(2, { steps: [second] })), at(6));
      await expectShutOut(a.store, lost, at(7), ["x"]);
      expect(await stepsOf(b.store, lease.runId)).toEqual([other, second]);
    },
  },
  {
    name: "a claim is lost and the same process claims again: its first turn is not taken for its second",
    async *tell({ a }) {
      await write(a.store, create("x"));
      yield;
      const lost = (await claimOne(a.store, "x", at(0), { owner: "A" })).lease;
      await committed(a.store, commit(lost, boundary(1, { steps: [completed(1)] })), at(1));
      yield;
      const { lease } = await claimOne(a.store, "x", at(2), { owner: "A" });
      await expectShutOut(a.store, lost, at(3), ["x"]);
      await committed(a.store, commit(lease, boundary(1, { steps: [completed(1)] })), at(4));
      await expectShutOut(a.store, lost, at(5), ["x"]);
      await committed(a.store, commit(lease, boundary(2, { next: complete() })), at(6));
    },
  },
  {
    name: "a run falls back to fewer commits of its own lease: the next commit is refused, and it is taken again and ends",
    async *tell({ a, b }) {
      const { lease } = await started(a.store, "x");
      await committed(a.store, commit(lease, boundary(1, { steps: [completed(1)] })), at(1));
      yield;
      await committed(a.store, commit(lease, boundary(2, { steps: [completed(2)] })), at(2));
      await committed(a.store, commit(lease, boundary(3, { steps: [completed(3)] })), at(3));
      yield;
      const before = await snapshot(a.store, "x");
      const renewal = { lease, begun: [], commit: 3, applied: 3 };
      expect(
        await a.store.renew([renewal], at(leaseMs), at(4)),
        "a renewal tells it before the next commit",
      ).toEqual([{ kind: "lost" }]);
      await superseded(a.store, commit(lease, boundary(4, { steps: [completed(4)] })), at(4));
      await superseded(a.store, commit(lease, boundary(4, { next: complete() })), at(4));
      expect(await snapshot(a.store, "x")).toEqual(before);
      const again = await claimOne(b.store, "x", at(leaseMs), { owner: "B" });
      expect(await stepsOf(b.store, lease.runId)).toEqual([completed(1)]);
      await expectShutOut(a.store, lease, at(leaseMs), ["x"]);
      await committed(b.store, commit(again.lease, boundary(1, { next: complete() })), at(leaseMs + 1));
      expect(await instance(b.store, "x")).toMatchObject({ status: "complete" });
    },
  },
  {
    name: "a takeover is lost: who took over is shut out, and who held the run before goes on",
    async *tell({ a, b }) {
      const { lease } = await started(a.store, "x");
      await committed(a.store, commit(lease, boundary(1, { steps: [completed(1)] })), at(1));
      yield;
      const lost = (await claimOne(b.store, "x", at(leaseMs), { owner: "B" })).lease;
      await committed(b.store, commit(lost, boundary(1, { steps: [completed(2)] })), at(leaseMs + 1));
      yield;
      await expectShutOut(b.store, lost, at(leaseMs + 2), ["x"]);
      await committed(a.store, commit(lease, boundary(2, { next: complete("of A") })), at(leaseMs + 3));
      await expectShutOut(b.store, lost, at(leaseMs + 4), ["x"]);
      expect(await instance(a.store, "x")).toMatchObject({ status: "complete", output: value("of A") });
    },
  },
  {
    name: "a commit whose answer is not known is sent again after the loss and applied once",
    async *tell({ a }) {
      const { lease } = await started(a.store, "x");
      await committed(a.store, commit(lease, boundary(1, { steps: [completed(1)] })), at(1));
      const last = commit(lease, boundary(2, { steps: [completed(2)], next: suspendUntil(at(50)) }));
      yield;
      await committed(a.store, last, at(2));
      yield;
      await committed(a.store, last, at(3));
      await committed(a.store, last, at(4));
      expect(await stepsOf(a.store, lease.runId)).toEqual([completed(1), completed(2)]);
      expect(await instance(a.store, "x")).toMatchObject({ status: "waiting", dueAt: at(50) });
    },
  },
  {
    name: "an end is lost: the run goes on where the rest of it is, and its first end is refused",
    async *tell({ a, b }) {
      const { lease } = await started(a.store, "x");
      await committed(a.store, commit(lease, boundary(1, { steps: [completed(1)] })), at(1));
      yield;
      const ending = boundary(3, { next: complete("lost") });
      await committed(a.store, commit(lease, boundary(2, { steps: [completed(2)] })), at(2));
      await committed(a.store, commit(lease, ending), at(3));
      yield;
      await superseded(a.store, commit(lease, ending), at(4));
      const again = await claimOne(b.store, "x", at(leaseMs), { owner: "B" });
      await committed(b.store, commit(again.lease, boundary(1, { next: complete("of B") })), at(leaseMs));
      await superseded(a.store, commit(lease, ending), at(leaseMs + 1));
      expect(await instance(b.store, "x")).toMatchObject({ output: value("of B") });
    },
  },
  {
    name: "a creation is lost: its holder is shut out of whatever was created instead, also under the same id",
    async *tell({ a, b }) {
      await write(a.store, create("before"));
      yield;
      const lost = (await startedBy("A", a.store, "x")).lease;
      await committed(a.store, commit(lost, boundary(1, { steps: [completed(1)] })), at(1));
      yield;
      expect(await a.store.getInstance(ref("x"))).toBeUndefined();
      await expectShutOut(a.store, lost, at(2), ["before"]);
      const held = [];
      for (const id of ["y", "x", "z"]) held.push((await startedBy("B", b.store, id)).lease);
      await write(b.store, create("free"));
      await expectShutOut(a.store, lost, at(3), ["x", "y", "z", "free", "before"]);
      for (const lease of held) {
        await committed(b.store, commit(lease, boundary(1, { steps: [completed(1)] })), at(4));
      }
      await expectShutOut(a.store, lost, at(5), ["x", "y", "z", "free", "before"]);
      for (const lease of held) {
        await committed(b.store, commit(lease, boundary(2, { next: complete() })), at(6));
      }
    },
  },
  {
    name: "run ids are lost with the creations that took them: nobody meets a stranger, and both processes go on creating",
    async *tell({ a, b }) {
      await a.store.migrate();
      yield;
      // Each process takes its first ids now, so nothing that survives knows of them.
      const lost: Lease[] = [];
      for (const id of ["a1", "a2", "a3"]) {
        lost.push((await startedBy("A", a.store, id)).lease);
      }
      yield;
      const others = ["b1", "b2", "b3"];
      const held: Lease[] = [];
      for (const id of others) {
        held.push((await startedBy("B", b.store, id)).lease);
      }
      for (const lease of lost) await expectShutOut(a.store, lease, at(1), others);
      await b.store.release(held, at(1));
      const ids: string[] = [];
      for (const round of [1, 2, 3]) {
        for (const store of [a.store, b.store]) {
          const id = `later ${round} ${store === a.store ? "a" : "b"}`;
          ids.push(id);
          expect(await write(store, create(id))).toMatchObject({ kind: "created" });
        }
      }
      const all = [...others, ...ids];
      const records = await Promise.all(all.map((id) => instance(b.store, id)));
      expect(records.map(({ params }) => params)).toEqual(all.map((id) => value({ for: id })));
      expect(new Set(records.map(({ runId }) => String(runId))).size).toBe(all.length);
      expect((await claimIds(b.store, at(2))).toSorted()).toEqual(all.toSorted());
    },
  },
];
