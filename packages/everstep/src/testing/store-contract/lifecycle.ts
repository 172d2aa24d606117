import {
  claimIds,
  claimOne,
  committed,
  ended,
  eventsOf,
  instance,
  logsOf,
  snapshot,
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
  abandon,
  at,
  awaiting,
  begun,
  boundary,
  change,
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
  received,
  ref,
  restart,
  resume,
  sendEvent,
  sleeping,
  suspendUntil,
  terminate,
  terminateSelf,
  value,
} from "./given.ts";

export const lifecycleCases: readonly Case[] = [
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
  {
    name: "an announcement is created with the end it belongs to, and only with it",
    async run({ open }) {
      const store = await open();
      const { lease } = await started(store, "a");
      const announce = create("told");
      await committed(store, { ...commit(lease, boundary(1)), announce });
      equal(await store.getInstance(ref("told")), undefined, "after a commit that goes on");
      await write(store, pause("a"));
      await write(store, { ...commit(lease, boundary(2, { next: complete() })), announce });
      equal(await store.getInstance(ref("told")), undefined, "after an end that a pause dropped");
      await write(store, resume("a"), at(5));
      const again = (await claimOne(store, "a", at(5))).lease;
      await committed(store, { ...commit(again, boundary(1, { next: complete() })), announce }, at(6));
      matches(await instance(store, "told"), { status: "active", dueAt: at(0) }, "after the end");
    },
  },
  {
    name: "an announcement is created with the change it belongs to, not with one that is refused",
    async run({ open }) {
      const store = await open();
      await started(store, "a");
      const announce = create("told");
      const refused = change(
        "a",
        { kind: "terminate", reason: { source: "user", message: null } },
        { statuses: ["complete"] },
      );
      matches(await write(store, { ...refused, announce }), { kind: "refused" }, "the outcome");
      equal(await store.getInstance(ref("told")), undefined, "after a refusal");
      matches(await write(store, { ...terminate("a"), announce }), { kind: "changed" }, "the outcome");
      matches(await instance(store, "told"), { status: "active" }, "after the change");
    },
  },
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
    name: "a change is applied only in the named states and is otherwise refused with the state found",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      equal(
        await write(store, resume("a"), at(1)),
        { kind: "refused", status: "active", runNumber: 1 },
        "resume",
      );
      await write(store, pause("a"), at(2));
      const before = await snapshot(store, "a");
      equal(
        await write(store, pause("a"), at(3)),
        { kind: "refused", status: "paused", runNumber: 1 },
        "pause twice",
      );
      equal(await snapshot(store, "a"), before, "everything the run shows");
    },
  },
  {
    name: "a change may name the run it is meant for (row 92)",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      await write(store, restart("a"), at(1));
      const again = (runNumber: number) =>
        write(
          store,
          change("a", { kind: "restart", history: [] }, { statuses: ["active"], runNumber }),
          at(2),
        );
      equal(await again(1), { kind: "refused", status: "active", runNumber: 2 }, "meant for the run before");
      matches(await again(2), { kind: "changed", runNumber: 3 }, "meant for the current run");
    },
  },
  {
    name: "a change may name the token it was decided under: whatever moved it since makes the decision void (INV-35)",
    async run({ open }) {
      const store = await open();
      await write(store, create("a"));
      const decide = (token: number) =>
        write(store, change("a", { kind: "pause" }, { statuses: ["active", "waiting"], token }), at(2));
      const { token } = await instance(store, "a");
      const { lease } = await claimOne(store, "a", at(1));
      equal(await decide(token), { kind: "refused", status: "active", runNumber: 1 }, "claimed since");
      matches(await decide(lease.token), { kind: "changed", status: "paused" }, "nothing has happened since");
    },
  },
  {
    name: "a change to an unknown instance finds nothing",
    async run({ open }) {
      const store = await open();
      equal(await write(store, pause("nobody")), { kind: "not-found" }, "the outcome");
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
    name: "terminate ends an unfinished run for good, whatever it was doing",
    async run({ open }) {
      const store = await open();
      await write(store, create("active", { retentionMs: 100 }));
      await suspended(store, "waiting", [awaiting(1, "x", never)], never, { retentionMs: 100 });
      await store.write([create("paused", { retentionMs: 100 }), pause("paused")], at(0));
      await started(store, "leased", { retentionMs: 100 });
      for (const id of ["active", "waiting", "paused", "leased"]) {
        const outcome = await write(store, terminate(id), at(20));
        matches(
          outcome,
          { kind: "changed", status: "terminated", runNumber: 1, leased: id === "leased" },
          id,
        );
        matches(
          await instance(store, id),
          {
            status: "terminated",
            terminationReason: { source: "user", message: "enough" },
            completedAt: at(20),
            retentionUntil: at(120),
            pausedAt: null,
            executing: false,
            dueAt: null,
          },
          id,
        );
      }
      equal(await claimIds(store, never), [], "claimable");
      equal(await store.nextDueAt(["order"]), null, "next due time");
    },
  },
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
  {
    name: "a wake makes a run due now, under the token it was meant for",
    async run({ open }) {
      const store = await open();
      const claim = await suspended(store, "a", [sleeping(1, never)], never);
      const { runId, token } = claim.lease;
      equal(
        await write(store, { kind: "wake", runId, token: token - 1 }, at(5)),
        { kind: "ignored" },
        "stale token",
      );
      equal(await claimIds(store, at(5)), [], "claimable after a stale wake");
      equal(await write(store, { kind: "wake", runId, token }, at(6)), { kind: "woken" }, "right token");
      equal(await claimIds(store, at(6)), ["a"], "claimable");
    },
  },
  {
    name: "a wake is ignored by runs that are leased, paused, ended or unknown",
    async run({ open }) {
      const store = await open();
      const leased = await started(store, "leased");
      const paused = await suspended(store, "paused", [sleeping(1, never)], never);
      await write(store, pause("paused"), at(1));
      const over = await ended(store, "over", complete());
      const removed = await ended(store, "removed", complete());
      await store.remove(ref("removed"));
      for (const { instanceId, lease } of [leased, paused, over, removed]) {
        equal(
          await write(store, { kind: "wake", runId: lease.runId, token: lease.token }, at(2)),
          { kind: "ignored" },
          instanceId,
        );
      }
      equal((await instance(store, "leased")).dueAt, at(leaseMs), "the lease");
      equal(await claimIds(store, at(3)), [], "claimable");
    },
  },
];
