import {
  claimIds,
  claimOne,
  committed,
  ended,
  erased,
  eventsOf,
  instance,
  logsOf,
  started,
  stepsOf,
  superseded,
  suspended,
  write,
} from "./acts.ts";
import type { Case, CaseContext } from "./case.ts";
import { equal, matches } from "./check.ts";
import {
  at,
  awaitingTopic,
  boundary,
  change,
  commit,
  complete,
  completed,
  create,
  errored,
  errorOut,
  logLine,
  never,
  pause,
  publish,
  ref,
  restart,
  sendEvent,
  sleeping,
  suspendUntil,
  terminate,
  value,
  workflow,
} from "./given.ts";

const retained = { retentionMs: 100 };

export const pruneCases: readonly Case[] = [
  {
    name: "only what has ended and is past its retention is pruned",
    async run({ open }) {
      const store = await open();
      await ended(store, "complete", complete(), retained);
      await ended(store, "errored", errorOut("e"), retained);
      await store.write([create("terminated", retained), terminate("terminated")], at(0));
      await ended(store, "young", complete(), { retentionMs: 5000 });
      await ended(store, "kept for ever", complete());
      await started(store, "leased", retained);
      await suspended(store, "waiting", [sleeping(1, never)], never, retained);
      await store.write([create("paused", retained), pause("paused")], at(0));
      equal(await store.prune({ before: at(99), limit: 100 }), 0, "pruned before the retention is over");
      equal(await store.prune({ before: at(200), limit: 100 }), 3, "pruned after it");
      const { items } = await store.listInstances({ limit: 100 });
      equal(
        items.map((item) => item.instanceId).toSorted(),
        ["kept for ever", "leased", "paused", "waiting", "young"],
        "left",
      );
    },
  },
  {
    name: "what is pruned leaves no trace: every read gives nothing and the id is free",
    run: (context) =>
      leavesNoTrace(context, async (store) => {
        equal(await store.prune({ before: at(10_000), limit: 100 }), 1, "pruned");
      }),
  },
  {
    name: "what is removed leaves no trace: every read gives nothing and the id is free",
    run: (context) =>
      leavesNoTrace(context, async (store) => {
        equal(await erased(store, ref("a")), true, "removed");
      }),
  },
  {
    name: "pruning goes in slices of at most the limit, longest over first",
    async run({ open }) {
      const store = await open();
      for (const n of [3, 1, 2, 5, 4]) await ended(store, `over since ${n}`, complete(), retained, at(n));
      const left = async () =>
        (await store.listInstances({ limit: 100 })).items.map((item) => item.instanceId).toSorted();
      equal(await store.prune({ before: at(1000), limit: 2 }), 2, "first slice");
      equal(await left(), ["over since 3", "over since 4", "over since 5"], "left");
      equal(await store.prune({ before: at(1000), limit: 2 }), 2, "second slice");
      equal(await store.prune({ before: at(1000), limit: 2 }), 1, "third slice");
      equal(await store.prune({ before: at(1000), limit: 2 }), 0, "nothing left");
    },
  },
  {
    name: "an instance that was restarted or reopened is not pruned for the run that ended before",
    async run({ open }) {
      const store = await open();
      await ended(store, "restarted", complete(), retained);
      await write(store, restart("restarted"), at(1));
      const claim = await started(store, "reopened", retained);
      await committed(
        store,
        commit(claim.lease, boundary(1, { steps: [errored(1)], next: errorOut("e") })),
        at(0),
      );
      await write(
        store,
        change("reopened", {
          kind: "retryStep",
          reopen: sleeping(1, at(5)),
          drop: [],
          releaseEventsOf: [],
          dueAt: at(5),
        }),
        at(1),
      );
      equal(await store.prune({ before: at(10_000), limit: 100 }), 0, "pruned");
      equal((await store.listRuns(ref("restarted"), 10)).length, 2, "runs of the restarted one");
    },
  },
  {
    name: "removing works in every state and shuts the running turn out",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "leased");
      await suspended(store, "waiting", [sleeping(1, at(5))], at(5));
      await store.write([create("active"), create("paused"), pause("paused")], at(0));
      await ended(store, "over", complete());
      for (const id of ["leased", "waiting", "active", "paused", "over"]) {
        equal(await erased(store, ref(id)), true, `"${id}" removed`);
        equal(await erased(store, ref(id)), false, `"${id}" removed twice`);
      }
      await superseded(store, commit(lease, boundary(1, { steps: [completed(1)] })), at(1));
      equal(await store.renew([{ lease, begun: [] }], never, at(1)), [{ kind: "lost" }], "renewal");
      equal(await claimIds(store, never), [], "claimable");
      equal(await store.nextDueAt([workflow]), null, "next due time");
    },
  },
  {
    name: "removing one instance leaves its namesakes in other workflows alone",
    async run({ open }) {
      const store = await open();
      await store.write([create("a"), create("a", { workflowName: "bill" })], at(0));
      equal(await erased(store, ref("a", "ship")), false, "in a workflow without it");
      equal(await erased(store, ref("a")), true, "in its workflow");
      equal((await instance(store, "a", undefined, "bill")).status, "active", "the namesake");
    },
  },
  {
    name: "a removed run waits on its topic no more",
    async run({ open }) {
      const store = await open();
      await suspended(store, "a", [awaitingTopic(1, "news", never)], never);
      await erased(store, ref("a"));
      matches(
        await write(store, publish("p1", "news"), at(1)),
        { waiters: 0, runIds: [] },
        "the publication",
      );
      equal((await store.listWaiters("news", { limit: 5 })).items, [], "waiters");
    },
  },
  {
    name: "a removed lease frees its place under a concurrency cap",
    async run({ open }) {
      const store = await open();
      await started(store, "held");
      await write(store, create("next"));
      const capped = { workflows: [{ name: workflow, concurrency: 1 }] };
      equal(await claimIds(store, at(1), capped), [], "while it is held");
      await erased(store, ref("held"));
      equal(await claimIds(store, at(1), capped), ["next"], "once it is removed");
    },
  },
];

async function leavesNoTrace(
  { open }: CaseContext,
  erase: (store: Awaited<ReturnType<CaseContext["open"]>>) => Promise<void>,
): Promise<void> {
  const store = await open();
  const first = await started(store, "a", retained);
  await write(store, sendEvent("a", "e1", "x"), at(1));
  const everything = boundary(1, {
    steps: [completed(1), awaitingTopic(2, "news", never)],
    logs: [logLine("gone")],
    next: suspendUntil(never),
  });
  await committed(store, commit(first.lease, everything), at(1));
  await write(store, publish("p1", "news"), at(2));
  await write(store, restart("a"), at(3));
  const second = await claimOne(store, "a", at(3));
  await committed(
    store,
    commit(
      second.lease,
      boundary(1, { steps: [completed(1), awaitingTopic(2, "news", never)], next: complete() }),
    ),
    at(4),
  );
  await erase(store);

  equal(await store.getInstance(ref("a")), undefined, "the instance");
  equal(await store.getInstance(ref("a"), 1), undefined, "its first run");
  equal(await store.listRuns(ref("a"), 10), [], "its runs");
  for (const { runId } of [first.lease, second.lease]) {
    equal(await stepsOf(store, runId), [], "steps");
    equal(await eventsOf(store, runId), [], "events");
    equal(await logsOf(store, runId), [], "log lines");
    // An empty history would be taken for a run that never started.
    equal(await store.readRuns([{ runId, steps: true, eventsAfter: 0 }]), [], "history");
  }
  equal((await store.listInstances({ limit: 10 })).items, [], "listed instances");
  equal((await store.listWaiters("news", { limit: 10 })).items, [], "waiters");
  equal((await store.countByStatus()).complete, 0, "counted");

  const again = await started(store, "a", { params: value("again") }, at(9));
  matches(
    again,
    { runNumber: 1, params: value("again"), fresh: true, eventSeq: 0 },
    "the next instance of the name",
  );
  matches(
    await write(store, sendEvent("a", "e1", "x"), at(9)),
    { kind: "accepted", duplicate: false },
    "its event",
  );
}
