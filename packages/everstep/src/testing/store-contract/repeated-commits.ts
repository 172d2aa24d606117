import {
  claimOne,
  committed,
  eventsOf,
  instance,
  logsOf,
  started,
  stepsOf,
  superseded,
  write,
} from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, matches } from "./check.ts";
import {
  at,
  begun,
  boundary,
  commit,
  complete,
  completed,
  errorOut,
  leaseMs,
  logLine,
  pause,
  resume,
  sendEvent,
  sleeping,
  suspendUntil,
  terminateSelf,
} from "./given.ts";

export const repeatedCommitCases: readonly Case[] = [
  {
    name: "repeating a commit after a lost reply has the effect of one (INV-42)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const first = commit(
        claim.lease,
        boundary(1, { steps: [completed(1)], logs: [logLine("once")], begun: [begun("x")] }),
        { alongside: [sendEvent("a", "e1", "x")], leaseUntil: at(2 * leaseMs) },
      );
      matches(await committed(store, first, at(1)), { eventSeq: 1 }, "the first");
      await write(store, sendEvent("a", "e2", "x"), at(2));
      equal(
        await write(store, first, at(3)),
        { kind: "committed", eventSeq: 2, timeoutsRefused: false, dueNow: false },
        "the repeat",
      );
      equal(
        (await logsOf(store, claim.lease.runId)).map((line) => line.message),
        ["once"],
        "log lines",
      );
      equal(
        (await eventsOf(store, claim.lease.runId)).map((event) => event.id),
        ["e1", "e2"],
        "events",
      );
      await committed(store, commit(claim.lease, boundary(2, { steps: [completed(2)] })), at(4));
    },
  },
  {
    name: "an older number than the last is refused, not applied again: bodies and steps stay as they are (INV-42)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const first = commit(claim.lease, boundary(1, { begun: [begun("x")], steps: [sleeping(1, at(50))] }));
      await committed(store, first, at(1));
      await committed(
        store,
        commit(claim.lease, boundary(2, { begun: [begun("y")], steps: [completed(1)] })),
        at(2),
      );
      await superseded(store, first, at(3));
      equal((await instance(store, "a")).begun, [begun("y")], "bodies in flight");
      equal(await stepsOf(store, claim.lease.runId), [completed(1)], "steps");
    },
  },
  {
    name: "a suspend may be repeated although the lease has been given back (INV-42)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const suspend = commit(
        claim.lease,
        boundary(1, { logs: [logLine("once")], next: suspendUntil(at(100)) }),
      );
      await committed(store, suspend, at(1));
      await committed(store, suspend, at(2));
      matches(await instance(store, "a"), { status: "waiting", dueAt: at(100) }, "the instance");
      equal((await logsOf(store, claim.lease.runId)).length, 1, "log lines");
      await claimOne(store, "a", at(100));
      await superseded(store, suspend, at(101));
    },
  },
  {
    name: "a completion may be repeated although the run has ended (INV-42)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      for (const [n, next] of [complete(), errorOut("e"), terminateSelf()].entries()) {
        const each = n === 0 ? claim : await started(store, `other ${n}`);
        const last = commit(each.lease, boundary(1, { next }));
        await committed(store, last, at(1));
        const before = await instance(store, each.instanceId);
        await committed(store, last, at(2));
        equal(await instance(store, each.instanceId), before, "the instance");
      }
    },
  },
  {
    name: "a repeat met by a pause says so: nothing more may begin (INV-34)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const first = commit(claim.lease, boundary(1, { steps: [completed(1)] }));
      await committed(store, first, at(1));
      await write(store, pause("a"), at(2));
      equal(
        await write(store, first, at(3)),
        { kind: "paused", eventSeq: 0, timeoutsRefused: false },
        "the repeat",
      );
    },
  },
  {
    name: "an end that a pause dropped is never answered as done, even when its repeat comes after resume (INV-42)",
    async run({ open }) {
      const store = await open();
      for (const next of [complete(), errorOut("e"), terminateSelf()]) {
        const { lease } = await started(store, next.kind);
        const last = commit(lease, boundary(1, { steps: [completed(1)], next }));
        await write(store, pause(next.kind), at(1));
        equal((await write(store, last, at(2))).kind, "paused", "while paused");
        await write(store, resume(next.kind), at(3));
        await superseded(store, last, at(4));
        matches(await instance(store, next.kind), { status: "active", completedAt: null }, "the instance");
      }
    },
  },
  {
    name: "numbers begin again at 1 with every claim",
    async run({ open }) {
      const store = await open();
      const first = await started(store, "a");
      await committed(store, commit(first.lease, boundary(1)), at(1));
      await committed(store, commit(first.lease, boundary(2, { next: suspendUntil(at(5)) })), at(1));
      const second = await claimOne(store, "a", at(5));
      await superseded(store, commit(second.lease, boundary(3)), at(5));
      await committed(store, commit(second.lease, boundary(1, { steps: [completed(1)] })), at(5));
      equal((await stepsOf(store, second.lease.runId)).length, 1, "steps");
    },
  },
];
