import { describe, expect, test } from "vitest";
import type { Statement } from "../session.ts";
import { answer, answerLater, ask, type Query, type Read, type Reading, type Rows } from "./query.ts";

const counted = (...texts: readonly string[]): Query<number> => ({
  statements: texts.map((sql) => ({ sql, values: [] })),
  read: (results) => results.flat().length,
});

const rowsOf = ({ sql }: Statement): Rows => {
  if (sql === "broken") throw new Error("broken");
  return Array.from({ length: Number(sql) }, (_unused, n) => ({ n }));
};

describe.each<[string, <Result>(read: Read<Result>) => Promise<Result>]>([
  ["at once", async (read) => answer(rowsOf, read)],
  ["later", (read) => answerLater(async (all) => all.map((each) => ({ rows: rowsOf(each) })), read)],
])("reads that are answered %s", (_name, answered) => {
  test("a query is given the rows of its statements", async () => {
    expect(await answered(counted("1", "2"))).toBe(3);
    expect(await answered(counted())).toBe(0);
  });

  test("what is asked next may follow from what was read", async () => {
    function* twice(): Reading<number> {
      const first = yield* ask(counted("2"));
      return first + (yield* ask(counted(String(first), "1")));
    }
    expect(await answered(twice())).toBe(5);
  });

  test("a read may go on after a query that failed", async () => {
    function* patient(): Reading<string> {
      try {
        yield* ask(counted("broken"));
      } catch (error) {
        return `${(error as Error).message}, ${yield* ask(counted("4"))}`;
      }
      return "whole";
    }
    expect(await answered(patient())).toBe("broken, 4");
    await expect(answered(counted("broken"))).rejects.toThrow("broken");
  });
});

test("a read without statements asks nobody", async () => {
  const nobody = () => {
    throw new Error("asked");
  };
  expect(await answerLater(nobody, counted())).toBe(0);
});
