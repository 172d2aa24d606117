import { describe, expect, test } from "vitest";
import { at, begun, claimRequest } from "../../testing/store-contract/given.ts";
import { claimed, released, renewed } from "./apply-lease.ts";
import { lanes } from "./lane.ts";
import { unbegun } from "./moves.ts";
import type { RunRow } from "./run-row.ts";

const row: RunRow = {
  ...unbegun,
  run: 1,
  instance: 1,
  workflow: "order",
  runNumber: 1,
  previousRun: null,
  createdAt: at(0),
  kind: "resume",
  lane: lanes.held,
  owner: "me",
  dueAt: at(30),
  token: 7,
  lastCommit: 2,
  eventSeq: 4,
  recorded: true,
  startedAt: at(1),
  updatedAt: at(2),
  begun: [begun("before")],
};
const lease = { runId: 1, token: 7, owner: "me", expiresAt: at(30) };

describe("a claim", () => {
  const request = claimRequest({ now: at(40), owner: "you", token: 9, leaseUntil: at(70) });
  const cases: readonly (readonly [string, Partial<RunRow>, number | undefined, number, boolean])[] = [
    [
      "of a run that nobody holds keeps the count",
      { lane: lanes.resuming, crashCount: 2 },
      undefined,
      2,
      false,
    ],
    ["of a lease that ran out counts a crash", { crashCount: 2 }, undefined, 3, true],
    ["of one whose holder was never heard of counts one at most", { lastCommit: 0 }, undefined, 1, true],
    ["of one that ran out while the store was away counts none", {}, at(20), 0, true],
    ["of one that ran out before that counts", {}, at(35), 1, true],
  ];
  test.each(cases)("%s", (_name, facts, excusedFrom, crashCount, ranOut) => {
    const before = { ...row, ...facts };
    const excused = excusedFrom === undefined ? request : { ...request, excusedFrom };
    const { move, left } = claimed(before, excused);
    expect(move).toMatchObject({ owner: "you", token: 9, dueAt: at(70), lastCommit: 0, crashCount });
    expect(left).toEqual({ token: 7, commit: before.lastCommit, ranOut });
  });
});

describe("a renewal", () => {
  const renewal = { lease, begun: [begun("now")] };
  test.each([
    ["under the token", row, renewal, { dueAt: at(60), begun: [begun("now")] }],
    ["while paused", { ...row, lane: lanes.heldPaused }, renewal, { dueAt: at(60), begun: [begun("now")] }],
    ["that is behind a commit", row, { ...renewal, commit: 1 }, { dueAt: at(60), begun: [begun("before")] }],
    ["under another token", row, { ...renewal, lease: { ...lease, token: 6 } }, null],
    ["of a run that was given back", { ...row, lane: lanes.resuming }, renewal, null],
    ["of a store that lost a commit", row, { ...renewal, applied: 3 }, null],
    ["of a run that is gone", undefined, renewal, null],
  ])("%s", (_name, before, given, expected) => {
    const { move, answer } = renewed(before, given, at(60));
    expect(move).toEqual(expected);
    expect(answer.kind).toBe(expected === null ? "lost" : "renewed");
  });
});

describe("a lease that is given back", () => {
  test.each([
    ["at once", row, lease, { lane: lanes.resuming, kind: "resume", dueAt: at(40), updatedAt: at(40) }],
    [
      "to be tried again later",
      row,
      { ...lease, retryAt: at(90) },
      { lane: lanes.resuming, kind: "retry", dueAt: at(90), updatedAt: at(40) },
    ],
    [
      "while paused",
      { ...row, status: "paused" as const, lane: lanes.heldPaused },
      lease,
      { lane: null, kind: "resume", dueAt: at(40), updatedAt: at(40) },
    ],
    ["under another token", row, { ...lease, token: 6 }, null],
    ["of a run that is gone", undefined, lease, null],
  ])("%s", (_name, before, given, expected) => {
    expect(released(before, given, at(40))).toEqual(expected);
  });
});
