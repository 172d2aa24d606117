import type { Claim } from "../../model/lease.ts";
import {
  claimIds,
  claimOne,
  committed,
  ended,
  eventsOf,
  instance,
  logsOf,
  started,
  stepsOf,
  superseded,
  suspended,
  write,
} from "./acts.ts";
import type { Case } from "./case.ts";
import { equal, isTrue, matches } from "./check.ts";
import {
  at,
  begun,
  boundary,
  commit,
  complete,
  completed,
  create,
  errored,
  errorOut,
  failure,
  leaseMs,
  logLine,
  never,
  pause,
  ref,
  resume,
  sendEvent,
  sleeping,
  suspendUntil,
  terminateSelf,
  value,
} from "./given.ts";

export const commitCases: readonly Case[] = [
  {
    name: "a committed step is there for the next turn, whatever its fate (scenario 156)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const steps = [completed(1), errored(2), sleeping(3, at(500))];
      await committed(store, commit(claim.lease, boundary(1, { steps })), at(1));
      const [history] = await store.readRuns([{ runId: claim.lease.runId, steps: true, eventsAfter: 0 }]);
      equal(history, { kind: "history", runId: claim.lease.runId, steps, events: [] }, "history");
    },
  },
  {
    name: "steps come back in order of index, not of name or commit (scenario 158)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const z = completed(2, { name: "zebra", key: "zebra#1" });
      const m = completed(7, { name: "mule", key: "mule#1" });
      const a = completed(12, { name: "ant", key: "ant#1" });
      await committed(store, commit(claim.lease, boundary(1, { steps: [a, z] })), at(1));
      await committed(store, commit(claim.lease, boundary(2, { steps: [m] })), at(1));
      equal(await stepsOf(store, claim.lease.runId), [z, m, a], "steps");
      const [history] = await store.readRuns([{ runId: claim.lease.runId, steps: true, eventsAfter: 0 }]);
      matches(history, { steps: [z, m, a] }, "history");
    },
  },
  {
    name: "a settled step is written once: its bytes never change (INV-7, scenario 157)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const first = [completed(1, { result: value(null) }), errored(2)];
      await committed(store, commit(claim.lease, boundary(1, { steps: first })), at(1));
      const second = [completed(1, { result: value("other") }), completed(2), sleeping(1, at(5))];
      await committed(store, commit(claim.lease, boundary(2, { steps: second })), at(2));
      equal(await stepsOf(store, claim.lease.runId), first, "steps");
    },
  },
  {
    name: "write-once holds across claims too (INV-7)",
    async run({ open }) {
      const store = await open();
      const slow = await started(store, "a");
      await committed(store, commit(slow.lease, boundary(1, { steps: [completed(1)] })), at(1));
      const fast = await claimOne(store, "a", at(leaseMs));
      const rewritten = completed(1, { result: value("rewritten") });
      await committed(store, commit(fast.lease, boundary(1, { steps: [rewritten] })), at(leaseMs));
      equal(await stepsOf(store, fast.lease.runId), [completed(1)], "steps");
    },
  },
  {
    name: "a waiting step gives way to its next wait and to its settlement, in its place",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const retry = sleeping(1, at(50), { type: "do", waitsFor: "retry", attempts: 1, starts: 1 });
      const later = { ...retry, attempts: 2, starts: 2, wakeAt: at(90) };
      await committed(store, commit(claim.lease, boundary(1, { steps: [retry, completed(2)] })), at(1));
      await committed(store, commit(claim.lease, boundary(2, { steps: [later] })), at(2));
      equal(await stepsOf(store, claim.lease.runId), [later, completed(2)], "after the second attempt");
      const done = completed(1, { attempts: 3, starts: 3, wakeAt: at(90) });
      await committed(store, commit(claim.lease, boundary(3, { steps: [done] })), at(3));
      equal(await stepsOf(store, claim.lease.runId), [done, completed(2)], "after the third");
    },
  },
  {
    name: "continue keeps the lease and extends it, and never shortens it",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await committed(store, commit(claim.lease, boundary(1), { leaseUntil: at(2 * leaseMs) }), at(1));
      matches(await instance(store, "a"), { executing: true, dueAt: at(2 * leaseMs) }, "extended");
      await committed(store, commit(claim.lease, boundary(2), { leaseUntil: at(leaseMs) }), at(2));
      equal((await instance(store, "a")).dueAt, at(2 * leaseMs), "end of the lease");
      equal(await claimIds(store, at(2 * leaseMs - 1)), [], "claimable before its end");
    },
  },
  {
    name: "suspend gives the lease back: the run waits and is claimed when due, not before (INV-28)",
    async run({ open }) {
      const store = await open();
      const claim = await suspended(store, "a", [sleeping(1, at(100))], at(100), {}, at(5));
      matches(
        await instance(store, "a"),
        { status: "waiting", executing: false, dueAt: at(100) },
        "the instance",
      );
      equal(await claimIds(store, at(99)), [], "claimed a millisecond early");
      equal((await claimOne(store, "a", at(100))).left.token, claim.lease.token, "token");
    },
  },
  {
    name: "yield gives the lease back although there is more to do: the run stays active",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await committed(
        store,
        commit(claim.lease, boundary(1, { next: { kind: "yield", dueAt: at(7) } })),
        at(5),
      );
      matches(
        await instance(store, "a"),
        { status: "active", executing: false, dueAt: at(7) },
        "the instance",
      );
      equal(await claimIds(store, at(6)), [], "claimed early");
      matches(await claimOne(store, "a", at(7)), { crashCount: 0 }, "the next claim");
    },
  },
  {
    name: "a failed attempt keeps the run going with its error; an error ends it for good (scenario 161)",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const error = failure("down");
      const retry = { ...sleeping(1, at(50)), type: "do", waitsFor: "retry", attempts: 1 } as const;
      const waiting = { ...retry, errors: [{ attempt: 1, at: at(5), error }] };
      const next = { kind: "suspend", dueAt: at(50), task: "retry" } as const;
      await committed(store, commit(lease, boundary(1, { steps: [waiting], next })), at(5));
      matches(
        await instance(store, "a"),
        { status: "waiting", dueAt: at(50), error: null },
        "after the attempt",
      );
      equal(
        (await stepsOf(store, lease.runId)).map(({ errors }) => errors.length),
        [1],
        "errors of the step",
      );
      const again = (await claimOne(store, "a", at(50))).lease;
      await committed(store, commit(again, boundary(1, { next: errorOut("down", true) })), at(51));
      matches(
        await instance(store, "a"),
        { status: "errored", dueAt: null, deadLetter: true },
        "after the end",
      );
    },
  },
  {
    name: "complete ends the run with its output, its last steps and nothing left to do (scenario 160)",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await committed(
        store,
        commit(claim.lease, boundary(1, { steps: [completed(1)], next: complete([1, 2]) })),
        at(9),
      );
      matches(
        await instance(store, "a"),
        {
          status: "complete",
          output: value([1, 2]),
          error: null,
          completedAt: at(9),
          executing: false,
          dueAt: null,
          deadLetter: false,
        },
        "the instance",
      );
      equal(await stepsOf(store, claim.lease.runId), [completed(1)], "steps");
      equal(await claimIds(store, never), [], "claimable");
    },
  },
  {
    name: "error ends the run with its error, and says whether the engine gave up on it",
    async run({ open }) {
      const store = await open();
      await ended(store, "own", errorOut("own"), {}, at(3));
      await ended(store, "given up", errorOut("again and again", true), {}, at(4));
      matches(
        await instance(store, "own"),
        {
          status: "errored",
          error: failure("own"),
          output: null,
          deadLetter: false,
          completedAt: at(3),
          dueAt: null,
        },
        "its own error",
      );
      matches(await instance(store, "given up"), { status: "errored", deadLetter: true }, "given up on");
    },
  },
  {
    name: "a turn may end its run as terminated, with the reason",
    async run({ open }) {
      const store = await open();
      await ended(store, "a", terminateSelf(), {}, at(3));
      matches(
        await instance(store, "a"),
        {
          status: "terminated",
          terminationReason: { source: "deadline", message: "too late" },
          completedAt: at(3),
          executing: false,
        },
        "the instance",
      );
    },
  },
  {
    name: "an ended run is kept until its retention is over, for ever when it has none",
    async run({ open }) {
      const store = await open();
      await ended(store, "some", complete(), { retentionMs: 500 }, at(10));
      await ended(store, "none", complete(), {}, at(10));
      equal((await instance(store, "some")).retentionUntil, at(510), "retentionUntil");
      equal((await instance(store, "none")).retentionUntil, null, "retentionUntil without retention");
    },
  },
  {
    name: "the bodies in flight are those the last commit named",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      await committed(store, commit(claim.lease, boundary(1, { begun: [begun("x"), begun("y")] })), at(1));
      equal((await instance(store, "a")).begun, [begun("x"), begun("y")], "after the first");
      await committed(store, commit(claim.lease, boundary(2, { begun: [begun("z", 3)] })), at(1));
      equal((await instance(store, "a")).begun, [begun("z", 3)], "after the second");
      await committed(store, commit(claim.lease, boundary(3, { next: suspendUntil(at(9)) })), at(1));
      equal((await instance(store, "a")).begun, [], "after the last");
    },
  },
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
  {
    name: "one batch, many boundaries: a stale one in the middle harms none of its neighbours (INV-39, scenario 133)",
    async run({ open }) {
      const store = await open();
      const a = await started(store, "a");
      const b = await started(store, "b");
      const c = await started(store, "c");
      const outcomes = await store.write(
        [
          commit(a.lease, boundary(1, { steps: [completed(1)] })),
          commit({ ...b.lease, token: 99 }, boundary(1, { steps: [completed(1)] })),
          commit(c.lease, boundary(1, { steps: [completed(1)], next: complete() })),
          sendEvent("nobody", "e1", "x"),
          commit(a.lease, boundary(2, { steps: [completed(2)] })),
        ],
        at(1),
      );
      equal(
        outcomes.map((outcome) => outcome.kind),
        ["committed", "superseded", "committed", "not-found", "committed"],
        "outcomes",
      );
      equal((await stepsOf(store, a.lease.runId)).length, 2, "steps of a");
      equal((await stepsOf(store, b.lease.runId)).length, 0, "steps of b");
      equal((await instance(store, "c")).status, "complete", "status of c");
    },
  },
  {
    name: "requests of a batch take effect in their order",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a");
      const wait = sleeping(1, never, { type: "waitForEvent", waitsFor: "event", eventType: "x" });
      const outcomes = await store.write(
        [
          create("b"),
          sendEvent("b", "e1", "x"),
          sendEvent("a", "e2", "x"),
          commit(claim.lease, boundary(1, { steps: [wait], next: suspendUntil(never) })),
          pause("b"),
          sendEvent("b", "e3", "x"),
        ],
        at(1),
      );
      matches(
        outcomes[1],
        { kind: "accepted", status: "active" },
        "an event for the instance created before it",
      );
      matches(outcomes[3], { kind: "committed", dueNow: true, eventSeq: 1 }, "a suspend behind its event");
      matches(outcomes[5], { kind: "accepted", status: "paused" }, "an event behind a pause");
    },
  },
  {
    name: "an empty batch is answered with nothing",
    async run({ open }) {
      const store = await open();
      equal(await store.write([], at(0)), [], "outcomes");
    },
  },
  {
    name: "histories of many runs are read at once, each answered at its own place",
    async run({ open }) {
      const store = await open();
      const a = await suspended(store, "a", [completed(1)], never);
      const b = await suspended(store, "b", [completed(2), completed(5)], never);
      await store.write(
        [sendEvent("a", "e1", "x"), sendEvent("a", "e2", "x"), sendEvent("b", "e3", "x")],
        at(1),
      );
      const histories = await store.readRuns([
        { runId: b.lease.runId, steps: true, eventsAfter: 0 },
        { runId: a.lease.runId, steps: false, eventsAfter: 1 },
        { runId: a.lease.runId, steps: true, eventsAfter: 2 },
      ]);
      equal(
        histories.map((history) => {
          isTrue(history.kind === "history", "readable");
          return [history.runId, history.steps.map((s) => s.index), history.events.map((e) => e.id)];
        }),
        [
          [b.lease.runId, [2, 5], ["e3"]],
          [a.lease.runId, [], ["e2"]],
          [a.lease.runId, [1], []],
        ],
        "histories",
      );
    },
  },
  {
    name: "histories are read as far as so many bytes go, the first one always; the others are said to be unread",
    async run({ open }) {
      const store = await open();
      const runs: Claim[] = [];
      for (const id of ["a", "b", "c"]) {
        const result = { json: JSON.stringify("x".repeat(5000)), marks: null };
        runs.push(await suspended(store, id, [completed(1, { result }), completed(2)], never));
      }
      const reads = runs.map(({ lease: { runId } }) => ({ runId, steps: true, eventsAfter: 0 }));
      const kinds = async (bytesMax?: number): Promise<unknown> =>
        (await store.readRuns(reads, bytesMax)).map(({ runId, kind }) => [runId, kind]);
      const [a, b, c] = runs.map(({ lease }) => lease.runId);
      equal(
        await kinds(1),
        [
          [a, "history"],
          [b, "unread"],
          [c, "unread"],
        ],
        "one byte",
      );
      equal(
        await kinds(1_000_000),
        [
          [a, "history"],
          [b, "history"],
          [c, "history"],
        ],
        "room for all",
      );
      equal(
        await kinds(),
        [
          [a, "history"],
          [b, "history"],
          [c, "history"],
        ],
        "without a limit",
      );
      const [first] = await store.readRuns(reads, 1);
      isTrue(first?.kind === "history" && first.steps.length === 2, "the whole history of the first");
    },
  },
  {
    name: "events alone are read within so many bytes where no turn needs its steps",
    async run({ open }) {
      const store = await open();
      const runs: Claim[] = [];
      for (const id of ["a", "b"]) {
        runs.push(await suspended(store, id, [completed(1)], never));
        await write(store, sendEvent(id, `to ${id}`, "go"), at(1));
      }
      const reads = runs.map(({ lease: { runId } }) => ({ runId, steps: false, eventsAfter: 0 }));
      const found = await store.readRuns(reads, 1_000_000);
      equal(
        found.map((run) =>
          run.kind === "history" ? [run.steps.length, run.events.map(({ id }) => id)] : run.kind,
        ),
        [
          [0, ["to a"]],
          [0, ["to b"]],
        ],
        "histories",
      );
    },
  },
  {
    name: "an instance was last updated when its newest step was, or itself",
    async run({ open }) {
      const store = await open();
      const claim = await started(store, "a", {}, at(0));
      await committed(
        store,
        commit(claim.lease, boundary(1, { steps: [completed(1, { settledAt: at(40) })] })),
        at(40),
      );
      equal((await instance(store, "a")).updatedAt, at(40), "after a step");
      await write(store, pause("a"), at(70));
      equal((await instance(store, "a")).updatedAt, at(70), "after a pause");
    },
  },
];
