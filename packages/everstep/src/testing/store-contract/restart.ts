import {
  claimOne,
  committed,
  ended,
  eventsOf,
  instance,
  logsOf,
  started,
  stepsOf,
  suspended,
  write,
} from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, matches } from "./check.ts";
import {
  at,
  boundary,
  commit,
  complete,
  completed,
  create,
  errorOut,
  logLine,
  never,
  pause,
  ref,
  restart,
  sendEvent,
  sleeping,
  terminate,
  value,
} from "./given.ts";

export const restartCases: readonly Case[] = [
  {
    name: "restart begins the next run from every state, due now, with the same parameters and time (scenario 112)",
    async run({ open }) {
      const store = await open();
      const facts = { params: value("same"), createdAt: at(-7) };
      await write(store, create("active", facts));
      await suspended(store, "waiting", [sleeping(1, never)], never, facts);
      await store.write([create("paused", facts), pause("paused")], at(0));
      await ended(store, "complete", complete(), facts);
      await ended(store, "errored", errorOut("e"), facts);
      await store.write([create("terminated", facts), terminate("terminated")], at(0));
      for (const id of ["active", "waiting", "paused", "complete", "errored", "terminated"]) {
        const outcome = await write(store, restart(id), at(30));
        matches(outcome, { kind: "changed", status: "active", runNumber: 2, leased: false }, id);
        matches(
          await instance(store, id),
          {
            status: "active",
            runNumber: 2,
            dueAt: at(30),
            startedAt: null,
            completedAt: null,
            pausedAt: null,
            output: null,
            error: null,
            terminationReason: null,
            retentionUntil: null,
            crashCount: 0,
          },
          `the new run of the ${id} one`,
        );
        matches(
          await claimOne(store, id, at(30)),
          {
            params: value("same"),
            createdAt: at(-7),
            fresh: true,
            waitingSince: null,
            eventSeq: 0,
            begun: [],
          },
          `the claim of the ${id} one`,
        );
      }
    },
  },
  {
    name: "the run before a restart ends and stays readable by its number (scenario 116)",
    async run({ open }) {
      const store = await open();
      const old = await started(store, "a");
      await committed(
        store,
        commit(old.lease, boundary(1, { steps: [completed(1), sleeping(2, never)], logs: [logLine("old")] })),
        at(1),
      );
      await write(store, sendEvent("a", "e1", "x"), at(2));
      const outcome = await write(store, restart("a"), at(3));
      matches(outcome, { kind: "changed", leased: true }, "the restart");
      matches(
        await instance(store, "a", 1),
        {
          runId: old.lease.runId,
          runNumber: 1,
          status: "terminated",
          completedAt: at(3),
          executing: false,
          dueAt: null,
        },
        "the old run",
      );
      equal((await instance(store, "a", 1)).terminationReason?.source, "restarted", "reason");
      equal(
        await stepsOf(store, old.lease.runId),
        [completed(1), sleeping(2, never)],
        "steps of the old run",
      );
      equal((await logsOf(store, old.lease.runId)).length, 1, "log lines of the old run");
      equal((await eventsOf(store, old.lease.runId)).length, 1, "events of the old run");
      const current = await instance(store, "a");
      equal(await stepsOf(store, current.runId), [], "steps of the new run (INV-38)");
      equal(await logsOf(store, current.runId), [], "log lines of the new run (INV-38)");
      equal(await store.getInstance(ref("a"), 3), undefined, "a run that does not exist");
    },
  },
  {
    name: "a run that had ended keeps its ending through a restart",
    async run({ open }) {
      const store = await open();
      await ended(store, "a", complete("first life"), {}, at(5));
      const before = await instance(store, "a");
      await write(store, restart("a"), at(9));
      equal(await instance(store, "a", 1), before, "the first run");
    },
  },
  {
    name: "a restart may begin with a copied history, and then is not fresh",
    async run({ open }) {
      const store = await open();
      await ended(store, "a", errorOut("e"));
      await write(store, restart("a", [completed(1), completed(3)]), at(1));
      const claim = await claimOne(store, "a", at(1));
      equal(claim.fresh, false, "fresh");
      equal(await stepsOf(store, claim.lease.runId), [completed(1), completed(3)], "steps");
    },
  },
  {
    name: "all runs of an instance are listed, newest first",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      for (let n = 1; n <= 4; n += 1) await write(store, restart("a"), at(n));
      const numbers = async (limit: number) =>
        (await store.listRuns(ref("a"), limit)).map((run) => run.runNumber);
      equal(await numbers(10), [5, 4, 3, 2, 1], "all");
      equal(await numbers(2), [5, 4], "the newest two");
      equal(await store.listRuns(ref("nobody"), 10), [], "of an unknown instance");
    },
  },
];
