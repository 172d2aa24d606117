import type { Store } from "../../store/index.ts";
import { claimOne, committed, ended, erased, started, suspended, write } from "./acts.ts";
import type { Case } from "./case.ts";
import { equal } from "./check.ts";
import {
  at,
  awaiting,
  boundary,
  commit,
  complete,
  create,
  leaseMs,
  never,
  pause,
  ref,
  restart,
  resume,
  sendEvent,
  sleeping,
  terminate,
  workflow,
} from "./given.ts";

export const dueCases: readonly Case[] = [
  {
    name: "what is due is listed over all workflows, soonest first, up to the time asked for",
    async run({ open }) {
      const store = await open();
      equal(await store.listDue({ before: never, limit: 10 }), [], "of an empty store");
      for (let n = 0; n < 24; n += 1) {
        await write(store, create(`i${n}`, { workflowName: `w${n % 8}`, dueAt: at((n * 7) % 24) }));
      }
      await suspended(store, "sleeper", [sleeping(1, at(5))], at(5), { workflowName: "w3" });
      const inOrder = Array.from({ length: 24 }, (_unused, n) => n).toSorted(
        (a, b) => ((a * 7) % 24) - ((b * 7) % 24),
      );
      const upTo = (due: number) => inOrder.filter((n) => (n * 7) % 24 <= due).map((n) => `i${n}`);
      equal((await dueIds(store, at(4))).toSorted(), upTo(4).toSorted(), "until 4");
      equal(await dueIds(store, at(4)), upTo(4), "until 4, in order");
      equal(await dueIds(store, at(-1)), [], "before the first");
      equal((await dueIds(store, never)).length, 25, "all of them");
      equal(await dueIds(store, never, 3), upTo(2), "the first three");
    },
  },
  {
    name: "runs that are due at the same time come in the order in which they were created",
    async run({ open }) {
      const store = await open();
      for (let n = 0; n < 12; n += 1)
        await write(store, create(`i${n}`, { workflowName: `w${n % 3}`, dueAt: at(1) }));
      const expected = Array.from({ length: 12 }, (_unused, n) => `i${n}`);
      equal(await dueIds(store, at(1)), expected, "all");
      equal(await dueIds(store, at(1), 5), expected.slice(0, 5), "the first");
    },
  },
  {
    name: "what is due says why: a start, a wake, a retry, or going on",
    async run({ open }) {
      const store = await open();
      await write(store, create("start", { dueAt: at(1) }));
      await suspended(store, "sleeps", [sleeping(1, at(2))], at(2));
      const retrying = await started(store, "retries");
      const retry = { kind: "suspend", dueAt: at(3), task: "retry" } as const;
      await committed(
        store,
        commit(retrying.lease, boundary(1, { steps: [sleeping(1, at(3))], next: retry })),
      );
      const yielding = await started(store, "yields");
      await committed(store, commit(yielding.lease, boundary(1, { next: { kind: "yield", dueAt: at(4) } })));
      await suspended(store, "hears", [awaiting(1, "x", never)], never);
      await write(store, sendEvent("hears", "e1", "x"), at(5));
      await store.write([create("paused"), pause("paused")], at(0));
      await write(store, resume("paused"), at(6));
      const released = await started(store, "released");
      await store.release([released.lease], at(7));
      await ended(store, "again", complete());
      await write(store, restart("again"), at(8));
      equal(
        (await store.listDue({ before: at(8), limit: 100 })).map((due) => [
          due.instanceId,
          due.kind,
          due.dueAt,
        ]),
        [
          ["start", "run", at(1)],
          ["sleeps", "wake", at(2)],
          ["retries", "retry", at(3)],
          ["yields", "resume", at(4)],
          ["hears", "wake", at(5)],
          ["paused", "resume", at(6)],
          ["released", "resume", at(7)],
          ["again", "run", at(8)],
        ],
        "what is due",
      );
    },
  },
  {
    name: "a run that is given back after a crash is due for a retry",
    async run({ open }) {
      const store = await open();
      await started(store, "crashed");
      equal(await dueIds(store, never), [], "under its lease");
      const { lease } = await claimOne(store, "crashed", at(leaseMs));
      await store.release([{ ...lease, retryAt: at(leaseMs + 500) }], at(leaseMs));
      equal(
        await store.listDue({ before: never, limit: 5 }),
        [{ ...ref("crashed"), runNumber: 1, kind: "retry", dueAt: at(leaseMs + 500) }],
        "given back",
      );
    },
  },
  {
    name: "what is under a lease, paused or over is not due, and a restarted instance is by its current run",
    async run({ open }) {
      const store = await open();
      await started(store, "leased");
      await started(store, "paused at work");
      await store.write(
        [pause("paused at work"), create("paused"), pause("paused"), create("over"), terminate("over")],
        at(1),
      );
      await ended(store, "complete", complete());
      equal(await dueIds(store, never), [], "of those");
      await write(store, create("twice"));
      await write(store, restart("twice"), at(2));
      equal(
        await store.listDue({ before: never, limit: 5 }),
        [{ ...ref("twice"), runNumber: 2, kind: "run", dueAt: at(2) }],
        "restarted",
      );
      await claimOne(store, "twice", at(3));
      equal(await dueIds(store, never), [], "claimed");
      await erased(store, ref("twice"));
      equal(await dueIds(store, never), [], "removed");
      equal(await store.nextDueAt([workflow]), at(leaseMs), "while leases are in force");
    },
  },
  {
    name: "the next due time is the earliest of these workflows, leases in force included",
    async run({ open }) {
      const store = await open();
      equal(await store.nextDueAt([workflow]), null, "of an empty store");
      await write(store, create("far", { dueAt: at(9_000_000) }));
      equal(await store.nextDueAt([workflow]), at(9_000_000), "a start");
      await started(store, "leased");
      equal(await store.nextDueAt([workflow]), at(leaseMs), "the end of a lease");
      await suspended(store, "waiting", [sleeping(1, at(50))], at(50));
      equal(await store.nextDueAt([workflow]), at(50), "a wake");
      await write(store, create("other", { workflowName: "bill", dueAt: at(3) }));
      equal(await store.nextDueAt([workflow]), at(50), "not that of another workflow");
      equal(await store.nextDueAt([workflow, "bill", "unknown"]), at(3), "of both");
      equal(await store.nextDueAt([]), null, "of no workflow");
    },
  },
  {
    name: "the next due time is not that of paused or ended runs (scenario 140)",
    async run({ open }) {
      const store = await open();
      await started(store, "paused at work");
      await store.write(
        [pause("paused at work"), create("paused"), pause("paused"), create("over"), terminate("over")],
        at(1),
      );
      await ended(store, "complete", complete());
      equal(await store.nextDueAt([workflow]), null, "next due time");
      await suspended(store, "waiting", [sleeping(1, at(70))], at(70));
      const claim = await claimOne(store, "waiting", at(70), { leaseUntil: at(90) });
      equal(await store.nextDueAt([workflow]), at(90), "after a claim");
      await committed(store, commit(claim.lease, boundary(1, { next: complete() })), at(71));
      equal(await store.nextDueAt([workflow]), null, "after its end");
    },
  },
];

async function dueIds(store: Store, before: number, limit = 100): Promise<readonly string[]> {
  return (await store.listDue({ before, limit })).map((due) => due.instanceId);
}
