import { expect, test } from "vitest";
import { lanes } from "../../store/apply/lane.ts";
import type { ClaimRequest } from "../../store/store.ts";
import { choose, readCandidates, roomsOf } from "./claim.ts";

const asked = (facts: Partial<ClaimRequest> = {}): ClaimRequest => ({
  owner: "me",
  token: 99,
  workflows: [{ name: "w", concurrency: null }],
  limit: 10,
  now: 1000,
  leaseUntil: 2000,
  ...facts,
});

const row = (run: number, lane: number, dueAt: number, facts: object = {}) => ({
  ...{ run, workflow: "w", lane, due_at: dueAt, crash_count: 0, token: 3, last_commit: 2, started_at: null },
  ...facts,
});

const chosen = (request: ClaimRequest, ...stretches: readonly ReturnType<typeof row>[][]) =>
  choose(
    request,
    roomsOf(request, []),
    stretches.flatMap((rows) => readCandidates(rows)),
  );

test("work under way comes before starts, the oldest first, leases that ran out among it", () => {
  const taken = chosen(
    asked(),
    [row(1, lanes.resuming, 30), row(2, lanes.resuming, 40)],
    [row(3, lanes.held, 35)],
    [row(4, lanes.starting, 1), row(5, lanes.starting, 2)],
  );
  expect(taken.map(({ run }) => run)).toEqual([1, 3, 2, 4, 5]);
});

test("a run is handed out with its crash counted, its start noted, and what was left of it", () => {
  const taken = chosen(
    asked(),
    [row(1, lanes.held, 30, { started_at: 7, crash_count: 1 })],
    [row(2, lanes.held, 31, { last_commit: 0, crash_count: 1 })],
    [row(3, lanes.starting, 1)],
  );
  expect(taken.map((each) => each.row)).toMatchObject([
    { token: 3, last_commit: 2, ran_out: 1, crash_count: 2, started_at: 7 },
    { token: 3, last_commit: 0, ran_out: 1, crash_count: 1, started_at: 1000 },
    { token: 3, last_commit: 2, ran_out: 0, crash_count: 0, started_at: 1000 },
  ]);
});

test("no more are taken than there is room for in a workflow", () => {
  const request = asked({
    workflows: [
      { name: "w", concurrency: 3 },
      { name: "x", concurrency: null },
    ],
  });
  const rooms = roomsOf(request, [{ workflow: "w", held: 2 }]);
  const rows = [
    row(1, lanes.resuming, 1),
    row(2, lanes.resuming, 2),
    row(3, lanes.resuming, 3, { workflow: "x" }),
  ];
  const taken = choose(request, rooms, readCandidates(rows));
  expect(taken.map(({ run }) => run)).toEqual([1, 3]);
});
