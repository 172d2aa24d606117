import type { CreateRequest, SendEventRequest, Store, StoreOutcome } from "../../store/index.ts";
import { claimIds, instance, suspended, undelivered, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, matches, rejects } from "./check.ts";
import { at, awaiting, completed, create, never, ref, sendEvent, value } from "./given.ts";

/** `create` and `sendEvent` in a transaction of the caller's own: they happen when it commits, or never. */
export const transactionCases: readonly Case[] = [
  {
    name: "an instance created in a caller's transaction is there when it commits",
    needs: "transactions",
    async run({ open, transactions }) {
      const store = await open();
      await transactions.run(store, "commit", async (tx) => {
        const [outcome] = await within(store, tx, [create("a")]);
        matches(outcome, { kind: "created", claim: null }, "the outcome");
      });
      equal(await claimIds(store, at(1)), ["a"], "what can be claimed");
    },
  },
  {
    name: "nothing of it is there when the caller rolls back",
    needs: "transactions",
    async run({ open, transactions }) {
      const store = await open();
      await suspended(store, "b", [awaiting(1, "x", never)], never);
      await transactions.run(store, "rollback", async (tx) => {
        await within(store, tx, [create("a"), sendEvent("b", "e1", "x")]);
      });
      equal(await store.getInstance(ref("a")), undefined, "the instance");
      equal((await instance(store, "b")).dueAt, never, "when the waiting one is due");
      equal(
        (await write(store, sendEvent("b", "e1", "x"), at(2))).kind,
        "accepted",
        "the same event, sent again",
      );
    },
  },
  {
    name: "an event sent in a caller's transaction wakes its run when it commits",
    needs: "transactions",
    async run({ open, transactions }) {
      const store = await open();
      const { lease } = await suspended(store, "a", [awaiting(1, "x", never)], never);
      await transactions.run(store, "commit", async (tx) => {
        const [outcome] = await within(store, tx, [sendEvent("a", "e1", "x")]);
        matches(outcome, { kind: "accepted", woke: true }, "the outcome");
      });
      equal(await claimIds(store, at(1)), ["a"], "what can be claimed");
      equal((await undelivered(store, lease.runId)).length, 1, "events");
    },
  },
  {
    name: "several requests see each other: an instance and an event for it",
    needs: "transactions",
    async run({ open, transactions }) {
      const store = await open();
      await transactions.run(store, "commit", async (tx) => {
        const outcomes = await within(store, tx, [create("a"), create("a"), sendEvent("a", "e1", "x")]);
        equal(
          outcomes.map(({ kind }) => kind),
          ["created", "exists", "accepted"],
          "outcomes",
        );
        equal((await within(store, tx, [create("a")]))[0]?.kind, "exists", "in a second write");
      });
      const { runId } = await instance(store, "a");
      equal((await undelivered(store, runId)).length, 1, "events");
    },
  },
  {
    name: "ids that exist and instances that do not are answered as ever",
    needs: "transactions",
    async run({ open, transactions }) {
      const store = await open();
      await write(store, create("a", { params: value("first") }));
      await transactions.run(store, "commit", async (tx) => {
        const outcomes = await within(store, tx, [
          create("a", { params: value("second") }),
          sendEvent("nobody", "e1", "x"),
        ]);
        equal(
          outcomes.map(({ kind }) => kind),
          ["exists", "not-found"],
          "outcomes",
        );
      });
      equal((await instance(store, "a")).params, value("first"), "params");
    },
  },
  {
    name: "a history given with the instance is kept",
    needs: "transactions",
    async run({ open, transactions }) {
      const store = await open();
      await transactions.run(store, "commit", async (tx) => {
        await within(store, tx, [create("a", { history: [completed(1)] })]);
      });
      const { runId } = await instance(store, "a");
      equal((await store.listSteps(runId, { limit: 10 })).items, [completed(1)], "steps");
    },
  },
  {
    name: "what is no transaction is refused with INVALID_ARGUMENT",
    needs: "transactions",
    async run({ open }) {
      const store = await open();
      for (const tx of [null, undefined, {}, "tx", 1]) {
        await rejects(within(store, tx, [create("a")]), "INVALID_ARGUMENT", `tx ${String(tx)}`);
      }
      equal(await store.getInstance(ref("a")), undefined, "the instance");
    },
  },
];

async function within(
  store: Store,
  tx: unknown,
  requests: readonly (CreateRequest | SendEventRequest)[],
): Promise<readonly StoreOutcome[]> {
  if (store.writeWithin === undefined)
    throw new Error("the store says it has transactions, but no writeWithin");
  return store.writeWithin(tx, requests, at(1));
}
