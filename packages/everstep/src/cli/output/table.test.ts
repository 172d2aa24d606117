import { expect, test } from "vitest";
import { createOutput } from "./output.ts";
import { writeTable } from "./table.ts";
import { shortened, widthOf } from "./width.ts";

const columns = [
  { title: "id" },
  { title: "run", align: "right" },
  { title: "note", shrinks: true },
] as const;

test("columns are as wide as what is in them, whatever the script", () => {
  const rows = [
    [{ text: "o-1" }, { text: "1" }, { text: "short" }],
    [{ text: "日本" }, { text: "12" }, { text: "" }],
  ];
  expect(drawn(rows, Number.POSITIVE_INFINITY)).toEqual(["id    run  note", "o-1     1  short", "日本   12"]);
});

test("a column that may shrink is cut where the terminal ends", () => {
  const rows = [[{ text: "o-1" }, { text: "1" }, { text: "a very long note about it" }]];
  const lines = drawn(rows, 24);
  expect(lines).toEqual(["id   run  note", "o-1    1  a very long n…"]);
  expect(lines.every((line) => widthOf(line) <= 24)).toBe(true);
});

test("what must not be cut is not, even if the line gets too long", () => {
  const rows = [[{ text: "an-id-that-is-needed" }, { text: "1" }, { text: "note" }]];
  expect(drawn(rows, 10)[1]).toContain("an-id-that-is-needed");
});

test("a text is cut between characters, not inside one", () => {
  expect(shortened("日本語", 4)).toBe("日…");
  expect(shortened("👩‍👩‍👧👩‍👩‍👧", 3)).toBe("👩‍👩‍👧…");
});

function drawn(rows: readonly (readonly { text: string }[])[], width: number): string[] {
  const lines: string[] = [];
  const out = createOutput({
    isTerminal: true,
    columns: width,
    colour: false,
    write: (text) => void lines.push(text.replace(/\n$/, "")),
  });
  writeTable(columns, rows, out);
  return lines;
}
