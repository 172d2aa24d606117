import { describe, expect, test } from "vitest";
import type { Next } from "../model/boundary.ts";
import type {
  AlongsideRequest,
  Change,
  ChangeOutcome,
  CommitOutcome,
  CommitRequest,
  CreateRequest,
  SendEventRequest,
  StoreOutcome,
  StoreRequest,
} from "../model/request.ts";
import { questionsOf } from "./hint-questions.ts";
import { hintsOf, type WakeHint } from "./hints.ts";

const now = 1000;
const later = 61_000;
const of = { workflowName: "order", instanceId: "o-1", runNumber: 1 };

const create = (instanceId: string, dueAt = now): CreateRequest =>
  ({ kind: "create", workflowName: "order", instanceId, dueAt, lease: null }) as CreateRequest;
const event = (system = false): SendEventRequest =>
  ({ kind: "sendEvent", workflowName: "order", instanceId: "o-2", id: "e", system }) as SendEventRequest;
const accepted = (woke: boolean, duplicate = false): StoreOutcome => ({
  kind: "accepted",
  runId: 1,
  status: "waiting",
  duplicate,
  woke,
});
const commit = (next: Next, more: Partial<CommitRequest> = {}): CommitRequest =>
  ({
    kind: "commit",
    alongside: [],
    mutations: null,
    boundary: { next },
    ...more,
  }) as unknown as CommitRequest;
const committed = (dueNow = false): CommitOutcome => ({
  kind: "committed",
  eventSeq: 0,
  timeoutsRefused: false,
  dueNow,
});
const change = (made: Change, announce?: CreateRequest): StoreRequest => ({
  kind: "change",
  workflowName: "order",
  instanceId: "o-1",
  id: "c",
  when: { statuses: [] },
  change: made,
  ...(announce ? { announce } : {}),
});
const changed = (leased = false): ChangeOutcome => ({
  kind: "changed",
  runId: 1,
  status: "active",
  runNumber: 1,
  leased,
});
const sleeps: Next = { kind: "suspend", dueAt: later, task: "wake" };
const completes: Next = { kind: "complete", output: { json: "1", marks: null } as never };

/** `order/o-1 wake at 61000`. */
const inWords = ({ workflowName, instanceId, reason, dueAt }: WakeHint): string =>
  `${workflowName}/${instanceId} ${reason}${dueAt ? ` at ${dueAt.getTime()}` : ""}`;

describe("what a write means to a dispatcher", () => {
  test.each<[string, StoreRequest, StoreOutcome, string[]]>([
    ["a creation is due", create("o-1"), { kind: "created", runId: 1, claim: null }, ["order/o-1 create"]],
    [
      "a creation that begins later says when",
      create("o-1", later),
      { kind: "created", runId: 1, claim: null },
      ["order/o-1 create at 61000"],
    ],
    [
      "a creation that this process took into its hands needs nobody",
      create("o-1"),
      { kind: "created", runId: 1, claim: {} as never },
      [],
    ],
    [
      "an id that was taken made nothing due",
      create("o-1"),
      { kind: "exists", status: "active", runNumber: 1 },
      [],
    ],
    ["an event woke its run", event(), accepted(true), ["order/o-2 event"]],
    ["a skipped sleep is over", event(true), accepted(true), ["order/o-2 wake"]],
    ["an event that nobody waits for is kept", event(), accepted(false), []],
    ["an event for an ended run was refused", event(), { kind: "terminal", status: "complete" }, []],
    ["a full buffer refused it", event(), { kind: "buffer-full" }, []],
    ["a sleep says when it is over", commit(sleeps), committed(), ["order/o-1 wake at 61000"]],
    [
      "a step waits for its next attempt",
      commit({ kind: "suspend", dueAt: later, task: "retry" }),
      committed(),
      ["order/o-1 retry at 61000"],
    ],
    [
      "a wait that is over already is due without a time",
      commit({ kind: "suspend", dueAt: now, task: "wake" }),
      committed(),
      ["order/o-1 wake"],
    ],
    ["an event was there before its wait", commit(sleeps), committed(true), ["order/o-1 event"]],
    [
      "what was given back unfinished goes on",
      commit({ kind: "yield", dueAt: now }),
      committed(),
      ["order/o-1 resume"],
    ],
    ["a turn that goes on needs nobody", commit({ kind: "continue" }), committed(), []],
    ["a run that ended wants nothing", commit(completes), committed(), []],
    [
      "a paused run wants nothing",
      commit(sleeps),
      { kind: "paused", eventSeq: 0, timeoutsRefused: false },
      [],
    ],
    ["a stale commit changed nothing", commit(sleeps), { kind: "superseded" }, []],
    [
      "writes of the author's that were refused changed nothing",
      commit(sleeps, { alongside: [create("child")] }),
      { kind: "mutation-failed", conflict: false, error: null },
      [],
    ],
    [
      "children are created with their parent's step",
      commit({ kind: "continue" }, { alongside: [create("a"), create("b", later)] }),
      committed(),
      ["order/a create", "order/b create at 61000"],
    ],
    [
      "children of a paused parent are created all the same",
      commit(sleeps, { alongside: [create("a")] }),
      { kind: "paused", eventSeq: 0, timeoutsRefused: false },
      ["order/a create"],
    ],
    [
      "who is told of an end is created with it",
      commit(completes, { announce: create("t") }),
      committed(),
      ["order/t create"],
    ],
    [
      "nobody is told of an end that is none",
      commit(sleeps, { announce: create("t") }),
      committed(),
      ["order/o-1 wake at 61000"],
    ],
    ["resumed", change({ kind: "resume", shiftDeadlines: false }), changed(), ["order/o-1 resume"]],
    [
      "resumed while a turn is under way",
      change({ kind: "resume", shiftDeadlines: false }),
      changed(true),
      [],
    ],
    ["restarted", change({ kind: "restart", history: [] }), changed(true), ["order/o-1 create"]],
    [
      "a failed step is tried again at once",
      change({ kind: "retryStep", reopen: null, drop: [], releaseEventsOf: [], dueAt: now }),
      changed(),
      ["order/o-1 retry"],
    ],
    [
      "a failed step is tried again later",
      change({ kind: "retryStep", reopen: null, drop: [], releaseEventsOf: [], dueAt: later }),
      changed(),
      ["order/o-1 retry at 61000"],
    ],
    ["paused", change({ kind: "pause" }), changed(), []],
    [
      "terminated, and somebody is told",
      change({ kind: "terminate", reason: { source: "user", message: null } }, create("t")),
      changed(),
      ["order/t create"],
    ],
    [
      "a change that was refused",
      change({ kind: "restart", history: [] }),
      { kind: "refused", status: "active", runNumber: 2 },
      [],
    ],
    ["a change of nothing", change({ kind: "restart", history: [] }), { kind: "not-found" }, []],
    [
      "a suspended turn moves on",
      { kind: "wake", runId: 1, token: 1 },
      { kind: "woken" },
      ["order/o-1 wake"],
    ],
    [
      "a suspended turn that is not there any more",
      { kind: "wake", runId: 1, token: 1 },
      { kind: "ignored" },
      [],
    ],
    [
      "a dead process's runs are taken up by whoever found it",
      { kind: "abandon", owner: "dead", fate: { kind: "expire" } },
      { kind: "abandoned", runs: 3 },
      [],
    ],
  ])("%s", (_, request, outcome, expected) => {
    expect(hintsOf(request, outcome, now, of).map(inWords)).toEqual(expected);
  });

  test("a hint holds nothing but what it says", () => {
    const [hint] = hintsOf(create("o-1", later), { kind: "created", runId: 1, claim: null }, now);
    expect(hint).toEqual({
      workflowName: "order",
      instanceId: "o-1",
      reason: "create",
      dueAt: new Date(later),
    });
    expect(hintsOf(event(), accepted(true), now)[0]).not.toHaveProperty("dueAt");
  });
});

describe("what a write leaves open", () => {
  const publish: StoreRequest = {
    kind: "publish",
    id: "p",
    topic: "rates",
    payload: {} as never,
    createdAt: now,
  };
  const published = (waiters: number, duplicate = false): StoreOutcome => ({
    kind: "published",
    waiters,
    runIds: [],
    duplicate,
  });
  const sent: AlongsideRequest = event();
  const asked = (request: StoreRequest, outcome: StoreOutcome, uncertain = false): string[] =>
    questionsOf(request, outcome, { of, uncertain }).map((question) =>
      question.kind === "topic"
        ? `topic ${question.topic}`
        : `${question.ref.instanceId} ${question.reason}${question.later ? " even later" : ""}`,
    );

  test.each<[string, StoreRequest, StoreOutcome, string[]]>([
    ["whom a publication woke", publish, published(2), ["topic rates"]],
    ["nothing where nobody waited", publish, published(0), []],
    ["nothing where it was published before", publish, published(2, true), []],
    ["whom an event sent by a step woke", commit(sleeps, { alongside: [sent] }), committed(), ["o-2 event"]],
    [
      "nothing of a commit that was refused",
      commit(sleeps, { alongside: [sent] }),
      { kind: "superseded" },
      [],
    ],
    ["nothing of a plain commit", commit(sleeps), committed(), []],
    [
      "nothing of an id that was taken",
      create("o-1"),
      { kind: "exists", status: "active", runNumber: 1 },
      [],
    ],
    ["nothing of an event that was sent before", event(), accepted(false, true), []],
  ])("%s", (_, request, outcome, expected) => {
    expect(asked(request, outcome)).toEqual(expected);
  });

  test.each<[string, StoreRequest, StoreOutcome, string[]]>([
    [
      "creation",
      create("o-1"),
      { kind: "exists", status: "active", runNumber: 1 },
      ["o-1 create even later"],
    ],
    ["event", event(), accepted(false, true), ["o-2 event"]],
    ["skipped sleep", event(true), accepted(false, true), ["o-2 wake"]],
    ["publication", publish, published(2, true), ["topic rates"]],
    ["suspension", commit(sleeps), committed(), ["o-1 event"]],
  ])("after a lost reply, whether a %s was this write's own", (_, request, outcome, expected) => {
    expect(asked(request, outcome, true)).toEqual(expected);
  });
});
