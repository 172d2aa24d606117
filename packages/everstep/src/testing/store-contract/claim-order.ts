import { claimIds, claimOne, started, suspended, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal } from "./check.ts";
import { at, create, sleeping, workflow } from "./given.ts";

export const claimOrderCases: readonly Case[] = [
  {
    name: "no more than the limit are claimed, the oldest due first",
    async run({ open }) {
      const store = await open();
      await store.write(
        [30, 10, 20, 0].map((due) => create(`due ${due}`, { dueAt: at(due) })),
        at(0),
      );
      equal(await claimIds(store, at(50), { limit: 2 }), ["due 0", "due 10"], "first");
      equal(await claimIds(store, at(50), { limit: 5 }), ["due 20", "due 30"], "then");
    },
  },
  {
    name: "runs due in the same millisecond are claimed in order of creation",
    async run({ open }) {
      const store = await open();
      const ids = Array.from({ length: 12 }, (_unused, n) => `i${(n * 7) % 12}`);
      await store.write(
        ids.map((id) => create(id)),
        at(0),
      );
      equal(await claimIds(store, at(0), { limit: 5 }), ids.slice(0, 5), "first five");
      equal(await claimIds(store, at(0)), ids.slice(5), "the rest");
    },
  },
  {
    name: "work under way goes before new starts, however much longer they have been due (scenario 139)",
    async run({ open }) {
      const store = await open();
      await suspended(store, "waiting", [sleeping(1, at(500))], at(500));
      const released = await started(store, "released");
      await store.release([released.lease], at(400));
      await write(store, create("start", { dueAt: at(-9999) }));
      equal(await claimIds(store, at(600)), ["released", "waiting", "start"], "order");
    },
  },
  {
    name: "a thousand older starts do not delay one resume (LIV-5)",
    async run({ open }) {
      const store = await open();
      await suspended(store, "resume", [sleeping(1, at(900))], at(900));
      for (let n = 0; n < 10; n += 1) {
        await store.write(
          Array.from({ length: 100 }, (_unused, m) => create(`start ${n} ${m}`, { dueAt: at(-1000 + n) })),
          at(0),
        );
      }
      equal(await claimIds(store, at(900), { limit: 1 }), ["resume"], "the one claimed");
    },
  },
  {
    name: "work under way in one workflow goes before starts of another",
    async run({ open }) {
      const store = await open();
      await suspended(store, "b", [sleeping(1, at(10))], at(10), { workflowName: "bill" });
      await write(store, create("a", { dueAt: at(0) }));
      const workflows = [
        { name: workflow, concurrency: null },
        { name: "bill", concurrency: null },
      ];
      equal(await claimIds(store, at(10), { workflows, limit: 1 }), ["b"], "the one claimed");
    },
  },
  {
    name: "runs of several workflows are claimed in one order, by due time",
    async run({ open }) {
      const store = await open();
      await store.write(
        [
          create("4", { dueAt: at(40) }),
          create("1", { dueAt: at(10), workflowName: "bill" }),
          create("3", { dueAt: at(30), workflowName: "ship" }),
          create("2", { dueAt: at(20) }),
        ],
        at(0),
      );
      const workflows = [workflow, "bill", "ship"].map((name) => ({ name, concurrency: null }));
      equal(await claimIds(store, at(50), { workflows, limit: 3 }), ["1", "2", "3"], "order");
    },
  },
  {
    name: "a start whose runner died is work under way: it goes before new starts",
    async run({ open }) {
      const store = await open();
      await write(store, create("crashed"));
      await claimOne(store, "crashed", at(0), { leaseUntil: at(100) });
      await write(store, create("new", { dueAt: at(50) }));
      equal(await claimIds(store, at(200)), ["crashed", "new"], "order");
    },
  },
];
