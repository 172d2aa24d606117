import {
  claimIds,
  claimOne,
  committed,
  instance,
  logsOf,
  started,
  stepsOf,
  superseded,
  suspended,
  undelivered,
  write,
} from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, matches } from "./check.ts";
import {
  at,
  awaiting,
  begun,
  boundary,
  commit,
  complete,
  completed,
  create,
  errorOut,
  leaseMs,
  logLine,
  never,
  pause,
  received,
  resume,
  sendEvent,
  sleeping,
  suspendUntil,
  terminateSelf,
} from "./given.ts";

export const pauseCases: readonly Case[] = [
  {
    name: "pause holds: the run shows it at once and is not claimed until resume (INV-34)",
    async run({ open }) {
      const store = await open();
      const claim = await suspended(store, "a", [sleeping(1, at(10))], at(10));
      equal(
        await write(store, pause("a"), at(5)),
        { kind: "changed", runId: claim.lease.runId, status: "paused", runNumber: 1, leased: false },
        "the outcome",
      );
      matches(
        await instance(store, "a"),
        { status: "paused", pausedAt: at(5), executing: false, dueAt: null },
        "paused",
      );
      equal(await claimIds(store, at(999)), [], "claimable");
      equal(
        await write(store, resume("a"), at(1000)),
        { kind: "changed", runId: claim.lease.runId, status: "active", runNumber: 1, leased: false },
        "the outcome",
      );
      matches(await instance(store, "a"), { status: "active", pausedAt: null, dueAt: at(1000) }, "resumed");
      equal((await claimOne(store, "a", at(1000))).left.token, claim.lease.token, "token");
    },
  },
  {
    name: "pause leaves a lease in force, so that a step in flight can still be recorded",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await write(store, sendEvent("a", "e1", "x"), at(1));
      matches(await write(store, pause("a"), at(2)), { kind: "changed", leased: true }, "the pause");
      const wait = awaiting(1, "x", never);
      const outcome = await write(
        store,
        commit(
          claim.lease,
          boundary(1, {
            steps: [received(wait)],
            consumed: [{ seq: 1, stepKey: wait.key }],
            eventSeqSeen: 1,
            logs: [logLine("still")],
            begun: [begun("body")],
          }),
          { leaseUntil: at(2 * leaseMs) },
        ),
        at(3),
      );
      equal(outcome, { kind: "paused", eventSeq: 1, timeoutsRefused: false }, "the commit");
      equal(await stepsOf(store, claim.lease.runId), [received(wait)], "steps");
      equal(await undelivered(store, claim.lease.runId), [], "undelivered");
      equal((await logsOf(store, claim.lease.runId)).length, 1, "log lines");
      matches(
        await instance(store, "a"),
        { status: "paused", executing: true, begun: [begun("body")] },
        "the instance",
      );
      const second = await write(store, commit(claim.lease, boundary(2, { steps: [completed(2)] })), at(4));
      equal(second.kind, "paused", "a second commit under the same lease");
    },
  },
  {
    name: "what comes next is dropped while paused: the run neither ends nor waits, and its lease is given back",
    async run({ open }) {
      const store = await open();
      const ends = [
        complete(),
        errorOut("e"),
        terminateSelf(),
        suspendUntil(at(50)),
        { kind: "yield", dueAt: at(50) } as const,
      ];
      for (const next of ends) {
        const claim = await started(store, next.kind);
        await write(store, pause(next.kind), at(1));
        const outcome = await write(
          store,
          commit(claim.lease, boundary(1, { steps: [completed(1)], next })),
          at(2),
        );
        equal(outcome.kind, "paused", `${next.kind} while paused`);
        matches(
          await instance(store, next.kind),
          { status: "paused", executing: false, output: null, error: null, completedAt: null },
          `the instance after ${next.kind}`,
        );
        await superseded(store, commit(claim.lease, boundary(2)), at(3));
        equal(await claimIds(store, at(60)), [], "claimable while paused");
        await write(store, resume(next.kind), at(60));
        const again = await claimOne(store, next.kind, at(60));
        equal(await stepsOf(store, again.lease.runId), [completed(1)], "steps after resume");
        await committed(store, commit(again.lease, boundary(1, { next: complete() })), at(61));
      }
    },
  },
  {
    name: "resume leaves a lease in force alone: the turn simply goes on",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await write(store, pause("a"), at(1));
      await write(store, commit(claim.lease, boundary(1, { begun: [begun("x")] })), at(2));
      matches(
        await write(store, resume("a"), at(3)),
        { kind: "changed", status: "active", leased: true },
        "resume",
      );
      matches(
        await instance(store, "a"),
        { status: "active", executing: true, dueAt: at(leaseMs) },
        "the instance",
      );
      equal(await claimIds(store, at(4)), [], "claimable by others");
      await committed(store, commit(claim.lease, boundary(2, { next: complete() })), at(5));
    },
  },
  {
    name: "a lease that ran out during a pause is not revived: after resume the run is claimable, as after a crash",
    async run({ open }) {
      const store = await open();
      await started(store, "a");
      await write(store, pause("a"), at(1));
      equal(await claimIds(store, at(2 * leaseMs)), [], "claimable while paused");
      matches(await write(store, resume("a"), at(3 * leaseMs)), { kind: "changed", leased: false }, "resume");
      equal((await instance(store, "a")).dueAt, at(3 * leaseMs), "dueAt");
      equal((await claimOne(store, "a", at(3 * leaseMs))).crashCount, 1, "crash count");
    },
  },
  {
    name: "a resumed run goes before new starts, even if it had not started itself",
    async run({ open }) {
      const store = await open();
      await store.write([create("resumed"), pause("resumed"), create("start", { dueAt: at(1) })], at(0));
      await write(store, resume("resumed"), at(50));
      equal(await claimIds(store, at(50)), ["resumed", "start"], "order");
    },
  },
  {
    name: "deadlines keep counting during a pause unless they are to be shifted (INV-34)",
    async run({ open }) {
      const store = await open();
      const steps = [awaiting(1, "x", at(100)), sleeping(2, at(200)), completed(3, { wakeAt: at(50) })];
      for (const shifted of [false, true]) {
        const id = `shifted ${shifted}`;
        const claim = await suspended(store, id, steps, at(100));
        await write(store, pause(id), at(10));
        await write(store, resume(id, shifted), at(40));
        equal(
          (await stepsOf(store, claim.lease.runId)).map((step) => step.wakeAt),
          shifted ? [at(130), at(230), at(50)] : [at(100), at(200), at(50)],
          id,
        );
      }
    },
  },
  {
    name: "a resume that moves waits moves the token, so that no turn kept in memory goes on with the old ones",
    async run({ open }) {
      const store = await open();
      const { lease } = await suspended(store, "a", [sleeping(1, at(100))], at(100));
      await write(store, pause("a"), at(10));
      await write(store, resume("a", true), at(40));
      equal((await claimOne(store, "a", at(40))).left.token, lease.token + 1, "token after the shift");
      equal(
        (await stepsOf(store, lease.runId)).map(({ wakeAt }) => wakeAt),
        [at(130)],
        "the wait",
      );
    },
  },
  {
    name: "a resume before its pause, by a clock that was set back, moves no wait earlier",
    async run({ open }) {
      const store = await open();
      const { lease } = await suspended(store, "a", [sleeping(1, at(100))], at(100));
      await write(store, pause("a"), at(50));
      await write(store, resume("a", true), at(20));
      const waits = (await stepsOf(store, lease.runId)).map(({ wakeAt }) => wakeAt);
      equal(waits, [at(100)], "the wait");
    },
  },
];
