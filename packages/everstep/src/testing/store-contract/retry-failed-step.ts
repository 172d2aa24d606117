import {
  claimIds,
  claimOne,
  committed,
  instance,
  started,
  stepsOf,
  superseded,
  undelivered,
  write,
} from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, matches } from "./check.ts";
import {
  abandon,
  at,
  awaiting,
  begun,
  boundary,
  change,
  commit,
  complete,
  completed,
  errored,
  errorOut,
  failure,
  leaseMs,
  never,
  received,
  sendEvent,
  sleeping,
} from "./given.ts";

export const retryFailedStepCases: readonly Case[] = [
  {
    name: "retrying a failed step reopens the errored run in place: same run, greater token (row 76)",
    async run({ open }) {
      const store = await open();
      const first = await started(store, "a", { retentionMs: 100 });
      await store.write([sendEvent("a", "e1", "x"), sendEvent("a", "e2", "y")], at(1));
      const wait = received(awaiting(3, "x", never));
      const kept = received(awaiting(1, "y", never));
      await committed(
        store,
        commit(
          first.lease,
          boundary(1, {
            steps: [kept, errored(2), wait, completed(4)],
            consumed: [
              { seq: 1, stepKey: wait.key },
              { seq: 2, stepKey: kept.key },
            ],
            eventSeqSeen: 2,
            begun: [begun("left behind")],
            next: errorOut("failed", true),
          }),
        ),
        at(2),
      );
      const reopen = sleeping(2, at(50), { type: "do", waitsFor: "retry", attempts: 1, maxAttempts: 2 });
      const outcome = await write(
        store,
        change(
          "a",
          { kind: "retryStep", reopen, drop: [3, 4], releaseEventsOf: [wait.key], dueAt: at(50) },
          { statuses: ["errored"] },
        ),
        at(10),
      );
      matches(
        outcome,
        { kind: "changed", runId: first.lease.runId, runNumber: 1, leased: false },
        "the outcome",
      );
      matches(
        await instance(store, "a"),
        {
          runId: first.lease.runId,
          error: null,
          deadLetter: false,
          completedAt: null,
          retentionUntil: null,
          dueAt: at(50),
          crashCount: 0,
          begun: [],
        },
        "the instance",
      );
      equal(await stepsOf(store, first.lease.runId), [kept, reopen], "steps");
      equal(
        (await undelivered(store, first.lease.runId)).map((e) => e.id),
        ["e1"],
        "undelivered again",
      );
      equal((await instance(store, "a")).token, first.lease.token + 1, "token");
      await superseded(store, commit(first.lease, boundary(1, { next: errorOut("failed", true) })), at(11));
      equal(await claimIds(store, at(49)), [], "claimable early");
      const claim = await claimOne(store, "a", at(50));
      equal(claim.left.token, first.lease.token + 1, "token before the claim");
      await superseded(store, commit(first.lease, boundary(1, { next: errorOut("failed", true) })), at(51));
      await committed(
        store,
        commit(claim.lease, boundary(1, { steps: [completed(2)], next: complete() })),
        at(51),
      );
    },
  },
  {
    name: "a run that is retried has its whole crash budget again",
    async run({ open }) {
      const store = await open();
      await started(store, "a");
      equal((await claimOne(store, "a", at(leaseMs), { owner: "dead" })).crashCount, 1, "crash count");
      await write(store, abandon("dead", { kind: "error", error: failure("interrupted") }), at(leaseMs));
      const retry = { kind: "retryStep", reopen: sleeping(1, never), drop: [], releaseEventsOf: [] } as const;
      await write(
        store,
        change("a", { ...retry, dueAt: at(leaseMs) }, { statuses: ["errored"] }),
        at(leaseMs),
      );
      equal((await claimOne(store, "a", at(leaseMs))).crashCount, 0, "crash count after the retry");
    },
  },
];
