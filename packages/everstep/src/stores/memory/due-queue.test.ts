import fc from "fast-check";
import { expect, test } from "vitest";
import { DueQueue } from "./due-queue.ts";
import type { Run } from "./run.ts";

test("runs come out by due time and then by creation, however they were put, moved and removed", () => {
  const moves = fc.array(
    fc.record({ id: fc.nat(20), dueAt: fc.nat(10), remove: fc.boolean() }, { noNullPrototype: true }),
    { maxLength: 200 },
  );
  fc.assert(
    fc.property(moves, (made) => {
      const queue = new DueQueue();
      const runs = new Map<number, Run>();
      for (const { id, dueAt, remove } of made) {
        const run = runs.get(id) ?? ({ id, queue: null, place: 0 } as Run);
        runs.set(id, run);
        run.row = { dueAt } as Run["row"];
        if (remove) run.queue?.remove(run);
        else queue.put(run);
      }
      const queued = [...runs.values()].filter((run) => run.queue !== null);
      const expected = queued
        .toSorted((a, b) => a.row.dueAt - b.row.dueAt || a.id - b.id)
        .map((run) => run.id);
      expect(drained(queue)).toEqual(expected);
    }),
  );
});

test("a run moves from one queue to the other and is in one only", () => {
  const starts = new DueQueue();
  const resumes = new DueQueue();
  const run = { id: 1, row: { dueAt: 5 }, queue: null, place: 0 } as unknown as Run;
  starts.put(run);
  resumes.put(run);
  expect([starts.first, resumes.first]).toEqual([undefined, run]);
});

function drained(queue: DueQueue): readonly number[] {
  const ids: number[] = [];
  for (let run = queue.first; run !== undefined; run = queue.first) {
    ids.push(run.id);
    queue.remove(run);
  }
  return ids;
}
