import { ended, everyPage, suspended, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal } from "./check.ts";
import { at, awaitingTopic, complete, never, pause, publish, ref, terminate } from "./given.ts";

export const waiterListCases: readonly Case[] = [
  {
    name: "the waiters of a topic are listed with instance, run, step and deadline (scenario 97)",
    async run({ open }) {
      const store = await open();
      await suspended(store, "a", [awaitingTopic(2, "news", at(500))], at(500));
      await suspended(store, "b", [awaitingTopic(1, "news", at(900))], at(900), { workflowName: "bill" });
      await suspended(store, "elsewhere", [awaitingTopic(1, "sport", at(900))], at(900));
      await suspended(store, "paused", [awaitingTopic(1, "news", at(700))], at(700));
      await suspended(store, "ended", [awaitingTopic(1, "news", at(900))], at(900));
      await ended(store, "never waited", complete());
      await store.write([pause("paused"), terminate("ended")], at(1));
      const waiters = await everyPage((query) => store.listWaiters("news", query), 2);
      equal(
        waiters.toSorted((x, y) => (x.instanceId < y.instanceId ? -1 : 1)),
        [
          {
            ...ref("a"),
            runNumber: 1,
            stepKey: "step 2#1",
            topic: "news",
            deadlineAt: at(500),
            hasEvent: false,
          },
          {
            ...ref("b", "bill"),
            runNumber: 1,
            stepKey: "step 1#1",
            topic: "news",
            deadlineAt: at(900),
            hasEvent: false,
          },
          {
            ...ref("paused"),
            runNumber: 1,
            stepKey: "step 1#1",
            topic: "news",
            deadlineAt: at(700),
            hasEvent: false,
          },
        ],
        "waiters",
      );
    },
  },
  {
    name: "of waiters is told which have their event already, so that a publication does not reach them",
    async run({ open }) {
      const store = await open();
      for (const id of ["told", "untold"])
        await suspended(store, id, [awaitingTopic(1, "news", never)], never);
      await write(store, pause("told"), at(1));
      await write(store, terminate("untold"), at(1));
      equal((await write(store, publish("first", "news"), at(2))).waiters, 1, "reached: the paused one");
      await suspended(store, "late", [awaitingTopic(1, "news", never)], never);
      const { items } = await store.listWaiters("news", { limit: 5 });
      const found = items.map(({ instanceId, hasEvent }) => `${instanceId} ${hasEvent}`).toSorted();
      equal(found, ["late false", "told true"], "waiters");
    },
  },
  {
    name: "waiters are paged completely, each once, in both orders (INV-46)",
    async run({ open }) {
      const store = await open();
      for (let n = 0; n < 7; n += 1) {
        const waits = [awaitingTopic(1, "news", at(500)), awaitingTopic(2, "news", at(500))];
        await suspended(store, `i${n}`, waits, at(500));
      }
      const name = (waiter: { instanceId: string; stepKey: string }) =>
        `${waiter.instanceId} ${waiter.stepKey}`;
      const up = (await everyPage((query) => store.listWaiters("news", query), 3, "asc")).map(name);
      const down = (await everyPage((query) => store.listWaiters("news", query), 4, "desc")).map(name);
      equal(new Set(up).size, 14, "different waiters");
      equal(up.length, 14, "waiters");
      equal(down, up.toReversed(), "the other order");
    },
  },
];
