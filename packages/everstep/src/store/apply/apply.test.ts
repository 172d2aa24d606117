import { describe, expect, test } from "vitest";
import {
  abandon,
  at,
  awaiting,
  awaitingTopic,
  boundary,
  change,
  commit,
  complete,
  completed,
  create,
  errorOut,
  failure,
  logLine,
  never,
  pause,
  publish,
  received,
  ref,
  restart,
  resume,
  sendEvent,
  sleeping,
  suspendUntil,
  terminate,
  timedOut,
} from "../../testing/store-contract/given.ts";
import type { StoreOutcome, StoreRequest } from "../store.ts";
import { apply } from "./apply.ts";
import { eventKey, publishedId, sent } from "./keys.ts";
import { lanes } from "./lane.ts";
import type { RunRow } from "./run-row.ts";
import type { KnownWait, WorkingRun } from "./working-run.ts";
import { WorkingSet } from "./working-set.ts";

const lease = { runId: 1, token: 3, owner: "runner", expiresAt: at(100) };

/** A run of the instance "a" that is held under `lease`, unless `facts` say otherwise. */
function held(facts: Partial<RunRow> = {}, retentionMs: number | null = null): WorkingSet {
  let lastId = 10;
  const set = new WorkingSet(() => {
    lastId += 1;
    return lastId;
  });
  const row: RunRow = {
    run: 1,
    instance: 1,
    workflow: "order",
    runNumber: 1,
    previousRun: null,
    createdAt: at(0),
    isCurrent: true,
    status: "active",
    kind: "resume",
    lane: lanes.held,
    dueAt: at(100),
    owner: "runner",
    token: 3,
    lastCommit: 0,
    eventSeq: 0,
    logSeq: 0,
    crashCount: 0,
    recorded: false,
    deadLetter: false,
    startedAt: at(0),
    waitingSince: null,
    pausedAt: null,
    updatedAt: at(0),
    pruneAt: null,
    begun: [],
    ...facts,
  };
  set.add(row, { id: 1, ...ref("a"), retentionMs, request: null, isMoved: false }, false);
  return set;
}

const waiting = { status: "waiting", kind: "wake", lane: lanes.resuming, dueAt: never } as const;

function runOf(set: WorkingSet, id = 1): WorkingRun {
  return set.runs.get(id) as WorkingRun;
}

function wait(step: ReturnType<typeof awaiting>): KnownWait {
  return step;
}

function decide(set: WorkingSet, ...requests: StoreRequest[]): StoreOutcome[] {
  return apply(set, requests, at(5));
}

describe("the fence", () => {
  test.each<[string, Partial<RunRow>, number]>([
    ["another token", { token: 4 }, 1],
    ["a lease that was given back", { lane: lanes.resuming }, 1],
    ["a run that has ended", { lane: null, status: "complete" }, 1],
    ["a number too many", {}, 2],
    ["a run that is not current any more", { isCurrent: false }, 1],
  ])("%s: superseded, and nothing has changed", (_name, facts, number) => {
    const set = held(facts);
    expect(decide(set, commit(lease, boundary(number, { steps: [completed(1)], next: complete() })))).toEqual(
      [{ kind: "superseded" }],
    );
    expect(runOf(set)).toMatchObject({ isChanged: false, ending: null });
    expect(runOf(set).stepPuts.size).toBe(0);
  });

  test("a lease that ran out but that nobody took is still good", () => {
    const set = held({ dueAt: at(1) });
    expect(decide(set, commit(lease, boundary(1)))).toMatchObject([{ kind: "committed" }]);
  });

  test("a number that was applied before is answered again and changes nothing", () => {
    const set = held({ lastCommit: 2 });
    expect(decide(set, commit(lease, boundary(2, { steps: [completed(1)] })))).toMatchObject([
      { kind: "committed", dueNow: false },
    ]);
    expect(runOf(set).isChanged).toBe(false);
  });

  test("an end that a pause dropped is no end when it is repeated", () => {
    const paused = held({ status: "paused", lane: null, lastCommit: 1 });
    const last = commit(lease, boundary(1, { next: complete() }));
    expect(decide(paused, last)).toMatchObject([{ kind: "paused" }]);
    expect(decide(held({ lane: lanes.resuming, lastCommit: 1 }), last)).toEqual([{ kind: "superseded" }]);
  });
});

describe("what a request changed is seen by those behind it", () => {
  test("an instance and an event for it", () => {
    const set = held();
    const outcomes = decide(set, create("new"), create("new"), sendEvent("new", "e1", "x"));
    expect(outcomes).toMatchObject([
      { kind: "created", runId: 11 },
      { kind: "exists", runNumber: 1 },
      { kind: "accepted", runId: 11, duplicate: false, woke: false },
    ]);
  });

  test("a pause goes before the commit behind it, which is recorded and stays paused", () => {
    const set = held();
    const last = commit(lease, boundary(1, { steps: [completed(1)], next: complete() }));
    expect(decide(set, pause("a"), last)).toMatchObject([{ kind: "changed" }, { kind: "paused" }]);
    expect(runOf(set).row).toMatchObject({ status: "paused", lane: null, lastCommit: 1 });
    expect(runOf(set).stepPuts.size).toBe(1);
    expect(runOf(set).ending).toBeNull();
  });

  test("an event goes before the suspend behind it, which is due now", () => {
    const set = held();
    const suspend = commit(
      lease,
      boundary(1, { steps: [awaiting(1, "x", never)], next: suspendUntil(never) }),
    );
    expect(decide(set, sendEvent("a", "e1", "x"), suspend)).toMatchObject([
      { kind: "accepted", woke: false },
      { kind: "committed", dueNow: true, eventSeq: 1 },
    ]);
    expect(runOf(set).row).toMatchObject({ status: "waiting", lane: lanes.resuming, dueAt: at(5) });
  });

  test("a suspend goes before the event behind it, which wakes the run", () => {
    const set = held();
    const suspend = commit(
      lease,
      boundary(1, { steps: [awaiting(1, "x", never)], next: suspendUntil(never) }),
    );
    expect(decide(set, suspend, sendEvent("a", "e1", "x"))).toMatchObject([
      { dueNow: false },
      { kind: "accepted", woke: true },
    ]);
    expect(runOf(set).row.dueAt).toBe(at(5));
  });

  test("a wait registered in the same batch is reached by a publication behind it, once", () => {
    const set = held();
    const register = commit(lease, boundary(1, { steps: [awaitingTopic(7, "news", never)] }));
    expect(decide(set, register, publish("p1", "news"), publish("p2", "news"))).toMatchObject([
      { kind: "committed" },
      { kind: "published", waiters: 1, runIds: [1] },
      { kind: "published", waiters: 0, runIds: [] },
    ]);
    expect(runOf(set).newEvents.map(({ id, forStep }) => [id, forStep])).toEqual([["p1:1:7", "step 7#1"]]);
  });

  test("after a restart the next change is about the new run, and the old lease is void", () => {
    const set = held();
    const outcomes = decide(set, restart("a"), commit(lease, boundary(1)), pause("a"));
    expect(outcomes).toMatchObject([
      { kind: "changed", runId: 11, runNumber: 2, leased: true },
      { kind: "superseded" },
      { kind: "changed", runId: 11, status: "paused" },
    ]);
    expect(runOf(set).row).toMatchObject({ isCurrent: false, status: "terminated", token: 4 });
    expect(runOf(set, 11).row).toMatchObject({ previousRun: 1, token: 4, createdAt: at(0) });
    expect(runOf(set).instance.isMoved).toBe(true);
  });

  test("an error and the retry of its step leave no ending behind", () => {
    const set = held();
    const failing = commit(lease, boundary(1, { steps: [completed(1)], next: errorOut("no", true) }));
    const again = change(
      "a",
      { kind: "retryStep", reopen: null, drop: [1], releaseEventsOf: [], dueAt: at(9) },
      { statuses: ["errored"] },
    );
    expect(decide(set, failing, again)).toMatchObject([
      { kind: "committed" },
      { kind: "changed", status: "active" },
    ]);
    const run = runOf(set);
    expect(run).toMatchObject({ ending: null, forgetsEnding: true, opening: "reopen" });
    expect([...run.stepDrops]).toEqual([1]);
    expect(run.stepPuts.size).toBe(0);
    expect(run.row).toMatchObject({
      status: "active",
      lane: lanes.resuming,
      dueAt: at(9),
      deadLetter: false,
    });
  });
});

describe("steps", () => {
  test("what has settled in the database stays so, whatever comes for it", () => {
    const set = held();
    runOf(set).settled.add(1);
    decide(set, commit(lease, boundary(1, { steps: [awaiting(1, "x", never), completed(2)] })));
    expect([...runOf(set).stepPuts.keys()]).toEqual([2]);
    expect(runOf(set).waits.size).toBe(0);
  });

  test("a wait may be replaced, and its end is its last record", () => {
    const set = held();
    const first = awaiting(1, "x", never);
    const steps = [first, received(first), sleeping(1, at(9))];
    decide(set, commit(lease, boundary(1, { steps })));
    expect(runOf(set).stepPuts.get(1)?.status).toBe("completed");
  });

  test("a resume that moves deadlines moves those in the database and those of this batch alike", () => {
    const set = held();
    runOf(set).waits.set(1, wait(awaiting(1, "x", at(50))));
    const register = commit(lease, boundary(1, { steps: [sleeping(2, at(60))], next: suspendUntil(at(50)) }));
    apply(set, [register, pause("a")], at(5));
    apply(set, [resume("a", true)], at(25));
    expect([...runOf(set).shifts]).toEqual([[1, at(70)]]);
    expect(runOf(set).stepPuts.get(2)?.wakeAt).toBe(at(80));
    expect(runOf(set).row).toMatchObject({ status: "active", token: 4, dueAt: at(25) });
  });
});

describe("events", () => {
  test("an id that is known is answered first, also by a run that has ended", () => {
    const set = held({ status: "complete", lane: null });
    set.eventIds.set(eventKey(1, sent("mine")), 1);
    set.eventIds.set(eventKey(8, sent("theirs")), 8);
    const outcomes = decide(set, ...["mine", "theirs", "new"].map((id) => sendEvent("a", id, "x")));
    expect(outcomes).toMatchObject([
      { kind: "accepted", duplicate: true },
      { kind: "terminal" },
      { kind: "terminal" },
    ]);
  });

  test("the buffer is full at its limit, and the engine's own events do not count", () => {
    const set = held();
    const events = ["e1", "e2", "e3"].map((id) => sendEvent("a", id, "x", { bufferMax: 2 }));
    const system = sendEvent("a", "e4", null, { bufferMax: 2, system: true });
    expect(decide(set, ...events, system).map(({ kind }) => kind)).toEqual([
      "accepted",
      "accepted",
      "buffer-full",
      "accepted",
    ]);
  });

  test("what a commit consumes makes room for the next", () => {
    const set = held({ eventSeq: 1 });
    runOf(set).undelivered.set(1, { seq: 1, type: "x", forStep: null, createdAt: at(0), system: false });
    const consume = commit(lease, boundary(1, { consumed: [{ seq: 1, stepKey: "s" }] }));
    const outcomes = decide(set, consume, sendEvent("a", "e2", "x", { bufferMax: 1 }));
    expect(outcomes).toMatchObject([{ kind: "committed" }, { kind: "accepted" }]);
  });

  test("an event that is not there yet cannot be consumed before it comes", () => {
    const set = held();
    const early = commit(lease, boundary(1, { consumed: [{ seq: 1, stepKey: "s" }] }));
    decide(set, early, sendEvent("a", "e1", "x"));
    expect(runOf(set).consumed.size).toBe(0);
    expect(runOf(set).undelivered.size).toBe(1);
  });

  test("timeouts are refused while an event that came in time is not seen, and the run is due now", () => {
    const set = held({ eventSeq: 1 });
    const open = awaiting(1, "x", at(4));
    runOf(set).waits.set(1, wait(open));
    runOf(set).undelivered.set(1, { seq: 1, type: "x", forStep: null, createdAt: at(3), system: false });
    const timeouts = [{ wait: open, settled: timedOut(open) }];
    const suspend = commit(lease, boundary(1, { timeouts, next: suspendUntil(never) }));
    expect(decide(set, suspend)).toMatchObject([{ timeoutsRefused: true, dueNow: true }]);
    expect(runOf(set).stepPuts.size).toBe(0);
  });

  test("an event wakes only who waits for it, and never touches the end of a lease", () => {
    const asleep = held({ ...waiting });
    runOf(asleep).waits.set(1, wait(awaiting(1, "y", never)));
    expect(decide(asleep, sendEvent("a", "e1", "x"))).toMatchObject([{ woke: false }]);
    expect(decide(asleep, sendEvent("a", "e2", "y"))).toMatchObject([{ woke: true }]);
    const busy = held();
    runOf(busy).waits.set(1, wait(awaiting(1, "x", never)));
    expect(decide(busy, sendEvent("a", "e1", "x"))).toMatchObject([{ woke: false }]);
    expect(runOf(busy).row.dueAt).toBe(at(100));
  });

  test("a publication passes over waits that are over, spoken for, or have had it", () => {
    const set = held({ ...waiting, eventSeq: 1 });
    const run = runOf(set);
    run.waits.set(1, wait(awaitingTopic(1, "news", at(4))));
    run.waits.set(2, wait(awaitingTopic(2, "news", never)));
    run.waits.set(3, wait(awaitingTopic(3, "news", never)));
    run.undelivered.set(1, { seq: 1, type: null, forStep: "step 2#1", createdAt: at(0), system: false });
    set.eventIds.set(eventKey(1, { topic: "news", id: publishedId("p1", 1, 3) }), 1);
    expect(decide(set, publish("p1", "news"))).toMatchObject([{ waiters: 0, duplicate: false }]);
    expect(decide(set, publish("p1", "news"))).toMatchObject([{ waiters: 0, duplicate: true }]);
  });
});

describe("changes", () => {
  test("one that was made is answered as it was then; one that was refused is judged anew", () => {
    const set = held();
    const stop = terminate("a");
    const [first] = decide(set, stop);
    expect(first).toMatchObject({ kind: "changed", status: "terminated", leased: true });
    expect(decide(set, stop)).toEqual([first]);
    expect(set.newChanges).toHaveLength(1);
    const other = resume("a");
    expect(decide(set, other, other)).toMatchObject([{ kind: "refused" }, { kind: "refused" }]);
  });

  test("the end of a run starts its retention and closes its waits", () => {
    const set = held({}, 1000);
    decide(set, commit(lease, boundary(1, { logs: [logLine("x")], next: complete("done") })));
    expect(runOf(set)).toMatchObject({ opening: "close", ending: { at: at(5) } });
    expect(runOf(set).row).toMatchObject({ status: "complete", lane: null, pruneAt: at(1005), logSeq: 1 });
  });

  test("an owner that is gone loses its leases, or its runs", () => {
    const expired = held();
    expect(decide(expired, abandon("runner"), abandon("other"))).toEqual([
      { kind: "abandoned", runs: 1 },
      { kind: "abandoned", runs: 0 },
    ]);
    expect(runOf(expired).row).toMatchObject({ lane: lanes.held, dueAt: at(5) });
    const errored = held({ ...waiting });
    decide(errored, abandon("runner", { kind: "error", error: failure("gone") }));
    expect(runOf(errored).row).toMatchObject({ status: "errored", token: 4, lane: null });
  });

  test("only what others could act on is told to them", () => {
    const quiet = held();
    decide(quiet, commit(lease, boundary(1)), create("leased", { lease: { owner: "me", until: at(9) } }));
    expect(quiet.news).toEqual({ due: false, changed: false, ended: false });
    const told = (...requests: StoreRequest[]) => {
      const set = held();
      decide(set, ...requests);
      return set.news;
    };
    expect(told(create("new"))).toMatchObject({ due: true });
    expect(told(sendEvent("a", "e1", "x"))).toMatchObject({ due: true });
    expect(told(pause("a"))).toMatchObject({ changed: true });
    expect(told(commit(lease, boundary(1, { next: complete() })))).toMatchObject({ ended: true });
  });
});
