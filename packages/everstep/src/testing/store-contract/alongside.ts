import { claimIds, committed, ended, instance, logsOf, started, stepsOf, suspended, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal } from "./check.ts";
import {
  at,
  boundary,
  commit,
  complete,
  completed,
  create,
  logLine,
  never,
  ref,
  sendEvent,
  sleeping,
  value,
} from "./given.ts";

export const alongsideCases: readonly Case[] = [
  {
    name: "a boundary may create instances and send events along with it",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "parent");
      await suspended(store, "waiter", [sleeping(1, never, { eventType: "done", waitsFor: "event" })], never);
      await committed(
        store,
        commit(claim.lease, boundary(1, { next: complete() }), {
          alongside: [create("child", { parent: ref("parent") }), sendEvent("waiter", "e1", "done")],
        }),
        at(1),
      );
      equal((await instance(store, "child")).parent, ref("parent"), "parent of the child");
      equal((await claimIds(store, at(1))).toSorted(), ["child", "waiter"], "due now");
    },
  },
  {
    name: "an event that a run sends to itself logs behind what the boundary logs, and before what comes later",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const logs = (message: string) => ({ logs: [logLine(message)] });
      const alongside = [sendEvent("a", "e1", "x", logs("sent")), sendEvent("b", "e2", "y")];
      await committed(store, commit(lease, boundary(1, logs("first")), { alongside }), at(1));
      await committed(store, commit(lease, boundary(2, { ...logs("last"), eventSeqSeen: 1 })), at(2));
      const messages = (await logsOf(store, lease.runId)).map(({ message }) => message);
      equal(
        messages.filter((_message, n) => n !== 2),
        ["first", "sent", "last"],
        "log lines",
      );
      equal(messages.length, 4, "log lines with the one about the event that nobody got");
    },
  },
  {
    name: "an instance created alongside a boundary is not leased, because nobody would hear of the lease",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "parent");
      const child = create("child", { lease: { owner: "runner", until: never } });
      await committed(store, commit(claim.lease, boundary(1), { alongside: [child] }), at(1));
      equal(await claimIds(store, at(1)), ["child"], "due now");
    },
  },
  {
    name: "what is refused alongside a boundary is skipped, and the boundary stands",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "parent");
      await write(store, create("taken", { params: value("mine") }));
      await ended(store, "over", complete());
      await committed(
        store,
        commit(claim.lease, boundary(1, { steps: [completed(1)] }), {
          alongside: [
            create("taken", { params: value("theirs") }),
            sendEvent("over", "e1", "x"),
            sendEvent("nobody", "e2", "x"),
            create("new"),
          ],
        }),
        at(1),
      );
      equal((await instance(store, "taken")).params, value("mine"), "the instance that was there");
      equal((await instance(store, "new")).status, "active", "the new instance");
      equal((await stepsOf(store, claim.lease.runId)).length, 1, "steps");
    },
  },
];
