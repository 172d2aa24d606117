import { expect, test } from "vitest";
import type { AuthorRowsHandle } from "./author-rows.ts";
import { runMutations, UniqueViolation } from "./author-rows.ts";

const mutating = (...mutate: ((db: AuthorRowsHandle) => unknown)[]) => ({ serviceCalls: [], mutate });

test("a mutation reads what it and those before it wrote", () => {
  const rows = new Map<string, unknown>([["a", 1]]);
  const seen: unknown[] = [];
  const outcome = runMutations(
    rows,
    mutating(
      (db) => db.set("b", 2),
      (db) => db.delete("a"),
      (db) => void seen.push(db.get("a"), db.get("b"), db.get("c")),
      (db) => db.insert("a", "again"),
    ),
  );
  expect(outcome).toBeUndefined();
  expect(seen).toEqual([undefined, 2, undefined]);
  expect(Object.fromEntries(rows)).toEqual({ a: "again", b: 2 });
});

test("a row that is there cannot be inserted, and nothing before it is kept", () => {
  const rows = new Map<string, unknown>([["a", 1]]);
  const outcome = runMutations(
    rows,
    mutating(
      (db) => db.delete("b"),
      (db) => db.set("c", 3),
      (db) => db.insert("a", 2),
    ),
  );
  expect(outcome).toMatchObject({ kind: "mutation-failed", conflict: true });
  expect(outcome?.error).toBeInstanceOf(UniqueViolation);
  expect(Object.fromEntries(rows)).toEqual({ a: 1 });
});

test("rows are copies: neither what was written nor what was read reaches into them", () => {
  const rows = new Map<string, unknown>();
  const given = { list: [1] };
  runMutations(
    rows,
    mutating(
      (db) => db.set("a", given),
      (db) => (db.get("a") as typeof given).list.push(3),
      () => given.list.push(2) && undefined,
    ),
  );
  expect(rows.get("a")).toEqual({ list: [1] });
});
