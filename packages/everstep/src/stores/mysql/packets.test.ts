import { expect, test } from "vitest";
import type { TableNames } from "../sql/schema/table.ts";
import type { Statement } from "../sql/session.ts";
import { insertRows, layOut } from "./statements.ts";

const statement = (sql: string): Statement => ({ sql, values: [] });
const render = ({ sql, values }: Statement): string => sql + JSON.stringify(values);
const names = { log: "log" } as TableNames;

test("all statements fit in one packet where they can, each ended on a line of its own", () => {
  const { packets } = layOut([statement("A -- note"), statement("B")], render, 10_000);
  expect(packets).toEqual([{ sql: "A -- note[]\n;\nB[]", count: 2 }]);
});

test("what does not fit goes with the next, in order", () => {
  const texts = ["a", "b", "c", "d"].map((letter) => statement(letter.repeat(400)));
  const { packets } = layOut(texts, render, 2000);
  expect(packets.map(({ count }) => count)).toEqual([2, 2]);
  expect(packets.map(({ sql }) => sql[0])).toEqual(["a", "c"]);
});

test("bytes count, not letters", () => {
  const texts = ["😀", "😀"].map((letter) => statement(letter.repeat(100)));
  expect(layOut(texts, render, 1024 + 800).packets).toHaveLength(2);
});

test("a statement over many rows becomes several, and their results one", () => {
  const rows = [1, 2, 3, 4, 5].map((n) => [n, "x".repeat(400)]);
  const insert = insertRows(names, "log", ["seq", "message"])(rows);
  const { packets, collect } = layOut([statement("first"), insert, statement("last")], render, 2000);
  const texts = packets.flatMap(({ sql }) => sql.split("\n;\n"));
  expect(texts.filter((text) => text.startsWith("INSERT"))).toHaveLength(3);
  const answers = texts.map((_text, n) => ({ rows: [{ n }], changes: 1 }));
  const results = collect(answers);
  expect(results.map(({ changes }) => changes)).toEqual([1, 3, 1]);
  expect(results[2]?.rows).toEqual([{ n: texts.length - 1 }]);
});

test("one row that is too large is refused before anything is sent, with what to do", () => {
  const insert = insertRows(names, "log", ["seq", "message"])([[1, "x".repeat(5000)]]);
  expect(() => layOut([insert], render, 2000)).toThrow(
    expect.objectContaining({
      failure: "too-large",
      code: "PAYLOAD_TOO_LARGE",
      message: expect.stringContaining("max_allowed_packet"),
    }),
  );
});
