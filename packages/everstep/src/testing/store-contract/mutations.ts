import type { CommitRequest, Mutation } from "../../store/index.ts";
import { claimOne, committed, instance, snapshot, started, stepsOf, superseded, write } from "./acts.ts";
import type { AuthorRows, Case } from "./case.ts";
import { equal, isTrue, matches, rejects } from "./check.ts";
import {
  at,
  boundary,
  commit,
  complete,
  completed,
  create,
  errored,
  leaseMs,
  logLine,
  pause,
  ref,
  sendEvent,
} from "./given.ts";

export const mutationCases: readonly Case[] = [
  {
    name: "the author's rows commit with the step that wrote them (INV-11)",
    needs: "mutations",
    async run({ open, rows }) {
      const store = await open();
      await rows.prepare?.(store);
      const { lease } = await started(store, "a");
      const request = commit(lease, boundary(1, { steps: [completed(1)], next: complete() }), {
        mutations: { serviceCalls: [], mutate: [inserting(rows, "k", "v")] },
      });
      await committed(store, request, at(1));
      equal(await rows.read(store, "k"), "v", "the author's row");
      equal((await instance(store, "a")).status, "complete", "status");
    },
  },
  {
    name: "a commit that builds on a lost event takes no rows of the author along",
    needs: "mutations",
    async run({ open, rows }) {
      const store = await open();
      await rows.prepare?.(store);
      const { lease } = await started(store, "a");
      await write(store, sendEvent("a", "there", "x"), at(1));
      const request = (id: string): CommitRequest =>
        commit(lease, boundary(1, { eventSeqSeen: 1, heard: [{ seq: 1, id }] }), {
          mutations: { serviceCalls: [], mutate: [inserting(rows, id, "v")] },
        });
      await superseded(store, request("lost"), at(2));
      equal(await rows.read(store, "lost"), undefined, "the author's row");
      await committed(store, request("there"), at(3));
      equal(await rows.read(store, "there"), "v", "the author's row");
    },
  },
  {
    name: "service calls run first, then mutations, each in order",
    needs: "mutations",
    async run({ open, rows }) {
      const store = await open();
      await rows.prepare?.(store);
      const { lease } = await started(store, "a");
      const order: string[] = [];
      const noting =
        (name: string): Mutation =>
        (db) => {
          order.push(name);
          return rows.insert(db, name, "");
        };
      await committed(
        store,
        commit(lease, boundary(1), {
          mutations: {
            serviceCalls: [noting("call 1"), noting("call 2")],
            mutate: [noting("mutate 1"), noting("mutate 2")],
          },
        }),
        at(1),
      );
      equal(order, ["call 1", "call 2", "mutate 1", "mutate 2"], "order");
    },
  },
  {
    name: "a unique violation is a conflict: nothing is applied, the lease and the number stay (INV-11)",
    needs: "mutations",
    async run({ open, rows }) {
      const store = await open();
      await rows.prepare?.(store);
      const { lease } = await started(store, "a");
      await committed(store, withInserts(rows, lease, 1, ["taken"]), at(1));
      const before = await snapshot(store, "a");
      const outcome = await write(
        store,
        commit(lease, boundary(2, { steps: [completed(2)], logs: [logLine("x")], next: complete() }), {
          mutations: {
            serviceCalls: [inserting(rows, "new", "v")],
            mutate: [inserting(rows, "taken", "other")],
          },
          alongside: [create("child")],
        }),
        at(2),
      );
      matches(outcome, { kind: "mutation-failed", conflict: true }, "the outcome");
      equal(await snapshot(store, "a"), before, "everything the run shows");
      equal(await rows.read(store, "new"), undefined, "the row written before the violation");
      equal(await rows.read(store, "taken"), "v of taken", "the row that was there");
      equal(await store.getInstance(ref("child")), undefined, "what it would have created alongside");
      await committed(store, commit(lease, boundary(2, { steps: [errored(2)] })), at(3));
    },
  },
  {
    name: "what the author's code throws comes back; it is no conflict and nothing is applied",
    needs: "mutations",
    async run({ open, rows }) {
      const store = await open();
      await rows.prepare?.(store);
      const { lease } = await started(store, "a");
      const before = await snapshot(store, "a");
      const thrown = new Error("author's own");
      const outcome = await write(
        store,
        commit(lease, boundary(1, { steps: [completed(1)] }), {
          mutations: {
            serviceCalls: [],
            mutate: [
              inserting(rows, "k", "v"),
              () => {
                throw thrown;
              },
            ],
          },
        }),
        at(1),
      );
      isTrue(outcome.kind === "mutation-failed" && !outcome.conflict, "failed, and not for a conflict");
      equal(outcome.error === thrown, true, "the very error that was thrown");
      equal(await snapshot(store, "a"), before, "everything the run shows");
      equal(await rows.read(store, "k"), undefined, "the author's row");
    },
  },
  {
    name: "a mutation that returns a promise is refused where mutations are synchronous (ruling 9)",
    needs: "synchronous mutations",
    async run({ open, rows }) {
      const store = await open();
      await rows.prepare?.(store);
      const { lease } = await started(store, "a");
      const late: Mutation = async (db) => {
        await rows.insert(db, "k", "v");
        throw new Error("nobody listens to this rejection, and it must harm nobody");
      };
      const outcome = await write(
        store,
        commit(lease, boundary(1, { steps: [completed(1)] }), {
          mutations: { serviceCalls: [late], mutate: [] },
        }),
        at(1),
      );
      isTrue(outcome.kind === "mutation-failed" && !outcome.conflict, "failed, and not for a conflict");
      isTrue(
        /synchronous/.test(String((outcome.error as Error).message)),
        "an error that says it must be synchronous",
      );
      equal(await rows.read(store, "k"), undefined, "the author's row");
      equal(await stepsOf(store, lease.runId), [], "steps");
    },
  },
  {
    name: "a stale token's mutations leave nothing behind (INV-2)",
    needs: "mutations",
    async run({ open, rows }) {
      const store = await open();
      await rows.prepare?.(store);
      const slow = await started(store, "a");
      const fast = await claimOne(store, "a", at(leaseMs));
      await superseded(store, withInserts(rows, slow.lease, 1, ["k"]), at(leaseMs));
      equal(await rows.read(store, "k"), undefined, "the stale row");
      await committed(store, withInserts(rows, fast.lease, 1, ["k"]), at(leaseMs));
    },
  },
  {
    name: "a repeated commit does not repeat its mutations (INV-42)",
    needs: "mutations",
    async run({ open, rows }) {
      const store = await open();
      await rows.prepare?.(store);
      const { lease } = await started(store, "a");
      const request = withInserts(rows, lease, 1, ["k"]);
      await committed(store, request, at(1));
      await committed(store, request, at(2));
    },
  },
  {
    name: "a step that ends in a paused run keeps its mutations with it",
    needs: "mutations",
    async run({ open, rows }) {
      const store = await open();
      await rows.prepare?.(store);
      const { lease } = await started(store, "a");
      await write(store, pause("a"), at(1));
      equal((await write(store, withInserts(rows, lease, 1, ["k"]), at(2))).kind, "paused", "the commit");
      equal(await rows.read(store, "k"), "v of k", "the author's row");
      equal((await stepsOf(store, lease.runId)).length, 1, "steps");
    },
  },
  {
    // The contract says only that such a request must be alone; refusing the whole write is our reading of it.
    name: "a commit with mutations shares its write with nobody: the write is refused and nothing applied",
    needs: "mutations",
    async run({ open, rows }) {
      const store = await open();
      await rows.prepare?.(store);
      const { lease } = await started(store, "a");
      await rejects(
        store.write([create("b"), withInserts(rows, lease, 1, ["k"])], at(1)),
        "MUTATION_INVALID",
        "the write",
      );
      equal(await store.getInstance(ref("b")), undefined, "its neighbour");
      equal(await rows.read(store, "k"), undefined, "the author's row");
      await committed(store, withInserts(rows, lease, 1, ["k"]), at(2));
    },
  },
];

function inserting(rows: AuthorRows, key: string, text: string): Mutation {
  return (db) => rows.insert(db, key, text);
}

function withInserts(
  rows: AuthorRows,
  lease: CommitRequest["lease"],
  number: number,
  keys: readonly string[],
) {
  return commit(lease, boundary(number, { steps: [completed(number)] }), {
    mutations: { serviceCalls: [], mutate: keys.map((key) => inserting(rows, key, `v of ${key}`)) },
  });
}
