import { expect, test } from "vitest";
import type { ClaimRound } from "../sql/dialect.ts";
import { lanes } from "../sql/lane.ts";
import { choose, readCandidates, roomsOf } from "./claim-choice.ts";

const round = (facts: Partial<ClaimRound> = {}): ClaimRound => ({
  owner: "me",
  workflows: [{ name: "w", concurrency: null }],
  limit: 10,
  now: 1000,
  leaseUntil: 2000,
  crashDelaysMs: [0, 50],
  ...facts,
});

const row = (run: number, lane: number, dueAt: number, facts: object = {}) => ({
  ...{ run, workflow: "w", lane, due_at: dueAt, crash_count: 0, token: 3, started_at: null },
  ...facts,
});

const chosen = (request: ClaimRound, ...stretches: readonly ReturnType<typeof row>[][]) =>
  choose(
    request,
    roomsOf(request, []),
    stretches.flatMap((rows) => readCandidates(rows, request.limit)),
  );

test("work under way comes before starts, the oldest first, leases that ran out among it", () => {
  const { taken } = chosen(
    round(),
    [row(1, lanes.resuming, 30), row(2, lanes.resuming, 40)],
    [row(3, lanes.held, 35)],
    [row(4, lanes.starting, 1), row(5, lanes.starting, 2)],
  );
  expect(taken.map(({ run }) => run)).toEqual([1, 3, 2, 4, 5]);
});

test("a run is handed out as it will be: next token, its crash counted, its start noted", () => {
  const { taken } = chosen(round(), [row(1, lanes.held, 30, { started_at: 7 })], [row(2, lanes.starting, 1)]);
  expect(taken.map((each) => each.row)).toMatchObject([
    { token: 4, crash_count: 1, started_at: 7 },
    { token: 4, crash_count: 0, started_at: 1000 },
  ]);
});

test("a run that crashed too often is put back and takes nobody's place", () => {
  const { taken, putBack } = chosen(
    round({ limit: 3 }),
    [row(1, lanes.held, 10, { crash_count: 1 }), row(2, lanes.held, 20)],
    [row(3, lanes.starting, 1)],
  );
  expect(putBack).toEqual([{ run: 1, dueAt: 1050 }]);
  expect(taken.map(({ run }) => run)).toEqual([2, 3]);
});

test("when a stretch was read to its end and some of it put back, what lies behind is looked for first", () => {
  const { taken, putBack } = chosen(
    round({ limit: 2 }),
    [row(1, lanes.held, 10, { crash_count: 1 }), row(2, lanes.held, 20)],
    [row(3, lanes.starting, 1)],
  );
  expect([taken.map(({ run }) => run), putBack.length]).toEqual([[2], 1]);
});

test("also when all of it is put back", () => {
  const { taken, putBack } = chosen(
    round({ limit: 1 }),
    [row(1, lanes.held, 10, { crash_count: 1 })],
    [row(3, lanes.starting, 1)],
  );
  expect([taken, putBack.length]).toEqual([[], 1]);
});

test("no more are taken than there is room for in a workflow", () => {
  const request = round({
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
  const { taken } = choose(request, rooms, readCandidates(rows, 10));
  expect(taken.map(({ run }) => run)).toEqual([1, 3]);
});
