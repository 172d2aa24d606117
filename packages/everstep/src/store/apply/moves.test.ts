import { describe, expect, test } from "vitest";
import {
  at,
  begun,
  boundary,
  complete,
  errorOut,
  terminateSelf,
} from "../../testing/store-contract/given.ts";
import type { Ending } from "./ending.ts";
import { lanes } from "./lane.ts";
import * as moves from "./moves.ts";

const now = at(10);

describe("what becomes of a run", () => {
  const cases: readonly (readonly [string, object, object])[] = [
    [
      "leased for the first time",
      moves.leased({ startedAt: null }, { owner: "me", token: 7, until: at(50) }, now),
      {
        status: "active",
        kind: "resume",
        lane: lanes.held,
        owner: "me",
        dueAt: at(50),
        token: 7,
        lastCommit: 0,
        waitingSince: null,
        startedAt: now,
        updatedAt: now,
      },
    ],
    [
      "committed",
      moves.committed({ crashCount: 2 }, boundary(3, { begun: [begun("a")] }), now),
      { lastCommit: 3, recorded: true, crashCount: 0, begun: [begun("a")], updatedAt: now },
    ],
    [
      "committed without progress",
      moves.committed({ crashCount: 2 }, boundary(3, { noProgress: true }), now),
      { lastCommit: 3, recorded: true, crashCount: 2, begun: [], updatedAt: now },
    ],
    ["extended", moves.extended({ dueAt: at(5) }, at(6)), { dueAt: at(6) }],
    ["extended by less than it has", moves.extended({ dueAt: at(5) }, at(4)), { dueAt: at(5) }],
    ["expired", moves.expired({ dueAt: at(50) }, now), { dueAt: now }],
    ["expired when it had run out", moves.expired({ dueAt: at(5) }, now), { dueAt: at(5) }],
    [
      "given back",
      moves.givenBack("active", "run", at(5)),
      { lane: lanes.starting, kind: "run", dueAt: at(5) },
    ],
    [
      "given back while paused",
      moves.givenBack("paused", "retry", at(5)),
      { lane: null, kind: "retry", dueAt: at(5) },
    ],
    [
      "made due",
      moves.madeDue({ dueAt: at(50) }, "wake", now),
      { lane: lanes.resuming, kind: "wake", dueAt: now },
    ],
    [
      "made due after it was",
      moves.madeDue({ dueAt: at(5) }, "wake", now),
      { lane: lanes.resuming, kind: "wake", dueAt: at(5) },
    ],
    [
      "suspended",
      moves.suspended("wake", at(50), now),
      { lane: lanes.resuming, kind: "wake", dueAt: at(50), status: "waiting", waitingSince: now },
    ],
    ["yielded", moves.yielded(at(50)), { lane: lanes.resuming, kind: "resume", dueAt: at(50) }],
    [
      "paused",
      moves.paused({ lane: lanes.resuming }, now),
      { status: "paused", pausedAt: now, updatedAt: now, lane: null },
    ],
    [
      "paused under a lease",
      moves.paused({ lane: lanes.held }, now),
      { status: "paused", pausedAt: now, updatedAt: now, lane: lanes.heldPaused },
    ],
    [
      "resumed",
      moves.resumed({ lane: null, dueAt: at(50), kind: "wake" }, now),
      { status: "active", pausedAt: null, updatedAt: now, lane: lanes.resuming, kind: "resume", dueAt: now },
    ],
    [
      "resumed under a lease in force",
      moves.resumed({ lane: lanes.heldPaused, dueAt: at(50), kind: "wake" }, now),
      { status: "active", pausedAt: null, updatedAt: now, lane: lanes.held, kind: "wake", dueAt: at(50) },
    ],
    [
      "resumed under a lease that ran out",
      moves.resumed({ lane: lanes.heldPaused, dueAt: at(5), kind: "wake" }, now),
      { status: "active", pausedAt: null, updatedAt: now, lane: lanes.held, kind: "resume", dueAt: now },
    ],
    ["fenced off", moves.fencedOff({ token: 7 }), { token: 8, lastCommit: 0 }],
    [
      "retried",
      moves.retried({ token: 7 }, at(50), now),
      {
        lane: lanes.resuming,
        kind: "retry",
        dueAt: at(50),
        token: 8,
        lastCommit: 0,
        status: "active",
        crashCount: 0,
        deadLetter: false,
        pruneAt: null,
        begun: [],
        updatedAt: now,
      },
    ],
  ];
  test.each(cases)("%s", (_name, move, expected) => expect(move).toEqual(expected));

  test.each([
    [complete(), "complete", false],
    [errorOut("e"), "errored", false],
    [errorOut("e", true), "errored", true],
    [terminateSelf(), "terminated", false],
  ])("ended by %o", (next, status, deadLetter) => {
    const rest = { lane: null, waitingSince: null, pausedAt: null, updatedAt: now };
    const move = moves.ended(next as Ending, 1000, now);
    expect(move).toEqual({ status, deadLetter, ...rest, pruneAt: now + 1000 });
    expect(moves.ended(next as Ending, null, now).pruneAt).toBeNull();
  });
});

test.each([
  ["nobody holds it and it waits", lanes.resuming, "waiting", 0, true],
  ["it waits and crashed before", lanes.resuming, "waiting", 2, true],
  ["it has not begun", lanes.starting, "active", 0, true],
  ["it waits out a crash", lanes.resuming, "active", 1, false],
  ["somebody holds it", lanes.held, "active", 0, false],
  ["somebody holds it and it is paused", lanes.heldPaused, "paused", 0, false],
  ["it is paused", null, "paused", 0, false],
] as const)("can an event make it due when %s", (_when, lane, status, crashCount, expected) => {
  expect(moves.canBeWoken({ lane, status, crashCount })).toBe(expected);
});
