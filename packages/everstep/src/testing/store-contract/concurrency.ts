import { claimIds, committed, started, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal } from "./check.ts";
import { at, boundary, commit, create, never, suspendUntil, workflow } from "./given.ts";

export const concurrencyCases: readonly Case[] = [
  {
    name: "a concurrency cap counts the leases in force of all runners",
    async run({ open }) {
      const store = await open();
      await store.write(
        ["a", "b", "c", "d"].map((id) => create(id)),
        at(0),
      );
      const capped = { workflows: [{ name: workflow, concurrency: 3 }] };
      equal(await claimIds(store, at(0), { ...capped, owner: "r1", limit: 2 }), ["a", "b"], "first runner");
      equal(await claimIds(store, at(0), { ...capped, owner: "r2" }), ["c"], "second runner");
      equal(await claimIds(store, at(0), { ...capped, owner: "r3" }), [], "third runner");
    },
  },
  {
    name: "a lease that was given back or ran out makes room under the cap",
    async run({ open }) {
      const store = await open();
      const capped = { workflows: [{ name: workflow, concurrency: 1 }] };
      const first = await started(store, "a");
      await write(store, create("b"));
      equal(await claimIds(store, at(1), capped), [], "while it is held");
      await committed(store, commit(first.lease, boundary(1, { next: suspendUntil(never) })), at(1));
      equal(
        await claimIds(store, at(1), { ...capped, leaseUntil: at(100) }),
        ["b"],
        "once it was given back",
      );
      await write(store, create("c"), at(2));
      equal(await claimIds(store, at(99), capped), [], "while the next is held");
      equal(await claimIds(store, at(100), { ...capped, limit: 1 }), ["b"], "once it ran out");
    },
  },
  {
    name: "a workflow at its cap does not starve the others (LIV-5)",
    async run({ open }) {
      const store = await open();
      await store.write(
        Array.from({ length: 60 }, (_unused, n) => create(`capped ${n}`, { dueAt: at(-100) })),
        at(0),
      );
      await store.write(
        [create("free 1", { workflowName: "bill" }), create("free 2", { workflowName: "bill" })],
        at(0),
      );
      const workflows = [
        { name: workflow, concurrency: 2 },
        { name: "bill", concurrency: null },
      ];
      equal(
        await claimIds(store, at(0), { workflows, limit: 4 }),
        ["capped 0", "capped 1", "free 1", "free 2"],
        "claimed",
      );
    },
  },
];
