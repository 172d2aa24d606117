import { expect, test } from "vitest";
import { apply } from "../../../store/apply/apply.ts";
import { needsOf } from "../../../store/apply/needs.ts";
import { WorkingSet } from "../../../store/apply/working-set.ts";
import {
  at,
  boundary,
  commit,
  complete,
  completed,
  create,
  pause,
  publish,
  sendEvent,
} from "../../../testing/store-contract/given.ts";
import type { Dialect, RowsStatement, RowValues } from "../dialect.ts";
import { idOf } from "../rows/event-row.ts";
import { areIndependent } from "./quick-write.ts";
import { saves } from "./save.ts";

/** A dialect whose statements say what they would do. */
const spoken = {
  insert: (table) => saying(`insert ${table}`),
  update: (table) => saying(`update ${table}`),
  putSteps: () => saying("put step"),
  remove: (table) => saying(`remove ${table}`),
} as Partial<Dialect> as Dialect;

function saying(sql: string): RowsStatement {
  return (rows) => ({ sql, values: rows });
}

function newSet(): WorkingSet {
  let lastId = 0;
  return new WorkingSet(() => {
    lastId += 1;
    return lastId;
  });
}

const leased = { owner: "me", until: at(9) };

test("any number of requests is a few statements, one per table and kind of change", () => {
  const set = newSet();
  const ids = Array.from({ length: 50 }, (_unused, n) => `i${n}`);
  apply(
    set,
    ids.flatMap((id) => [create(id, { lease: leased }), sendEvent(id, `e ${id}`, "x"), pause(id)]),
    at(0),
  );
  const statements = saves(spoken)(set);
  expect(statements.map(({ sql }) => sql)).toEqual([
    "insert instance",
    "insert run",
    "insert event",
    "insert change",
  ]);
  for (const { values } of statements) expect(values).toHaveLength(50);
});

test("keys that others may be taking come in one order, whatever the order of the requests", () => {
  const namesOf = (ids: readonly string[]) => {
    const set = newSet();
    const events = ids.map((id) => sendEvent("a", `e ${id}`, "x"));
    apply(set, [...ids.map((id) => create(id)), ...events], at(0));
    return saves(spoken)(set).map(({ sql, values }) =>
      (values as RowValues[]).map((row) => (sql === "insert event" ? row[2] : row[2])),
    );
  };
  const [instances, , events] = namesOf(["c", "a", "b"]);
  expect(instances).toEqual(["a", "b", "c"]);
  expect(events?.map((key) => idOf(String(key)))).toEqual(["e a", "e b", "e c"]);
  expect(namesOf(["b", "c", "a"])[0]).toEqual(instances);
});

test("what was only looked at is not written", () => {
  const set = newSet();
  apply(set, [create("a", { lease: leased })], at(0));
  const lease = { runId: 1, token: 9, owner: "me", expiresAt: at(9) };
  const before = saves(spoken)(set);
  apply(set, [commit(lease, boundary(1, { steps: [completed(1)], next: complete() }))], at(1));
  expect(saves(spoken)(set)).toEqual(before);
});

test("only commits of runs and creations of names of their own are independent", () => {
  const of = (runId: number) => ({ runId, token: 1, owner: "me", expiresAt: at(9) });
  const plain = commit(of(1), boundary(1, { next: complete() }));
  expect(areIndependent([plain, commit(of(2), boundary(1)), create("a"), create("b")])).toBe(true);
  expect(areIndependent([plain, plain])).toBe(false);
  expect(areIndependent([create("a"), create("a")])).toBe(false);
  expect(areIndependent([plain, sendEvent("a", "e", "x")])).toBe(false);
  expect(areIndependent([{ ...plain, alongside: [create("a")] }])).toBe(false);
  expect(areIndependent([{ ...plain, announce: create("a") }])).toBe(false);
  expect(areIndependent([{ ...plain, mutations: { serviceCalls: [], mutate: [] } }])).toBe(false);
});

test("a batch reads no more than its requests need", () => {
  const of = { runId: 1, token: 1, owner: "me", expiresAt: at(9) };
  const plain = needsOf([commit(of, boundary(1, { steps: [completed(1)] }))]);
  expect([...plain.runs]).toEqual([1]);
  expect([plain.names.size, plain.looks.size, plain.steps.length, plain.newRuns]).toEqual([0, 0, 0, 0]);
  const mixed = needsOf([
    publish("p", "t"),
    sendEvent("a", "e", "x"),
    sendEvent("a", "f", "x", { bufferMax: 2 }),
  ]);
  expect([...mixed.sends.values()]).toMatchObject([{ instanceId: "a", bufferMax: 2, count: 2 }]);
  expect(mixed.eventIds.map(({ id }) => id)).toEqual(["e", "f"]);
});
