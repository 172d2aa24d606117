import { expect, test } from "vitest";
import { rowOf } from "./row.ts";
import { listed } from "./sample-rows.ts";
import { asListed, nothingChosen, type Selection, withAll, withRange, withToggled } from "./selection.ts";

const rows = ["a", "b", "c", "d", "e"].map((id) => rowOf(listed(id)));
const row = (at: number) => rows[at] as (typeof rows)[number];
const ids = ({ chosen }: Selection): string => [...chosen.values()].map((each) => each.instanceId).join("");

test("a row is chosen, and chosen no more", () => {
  const one = withToggled(nothingChosen, row(1));
  expect(ids(one)).toBe("b");
  expect(ids(withToggled(one, row(1)))).toBe("");
});

test("a range is chosen from the row before, in both directions", () => {
  expect(ids(withRange(withToggled(nothingChosen, row(1)), rows, row(3)))).toBe("bcd");
  expect(ids(withRange(withToggled(nothingChosen, row(3)), rows, row(1)))).toBe("dbc");
});

test("a range that begins with a row that was taken out is taken out", () => {
  const all = withAll(nothingChosen, rows);
  expect(ids(withRange(withToggled(all, row(1)), rows, row(3)))).toBe("ae");
});

test("without a row to begin with, a range is that row", () => {
  expect(ids(withRange(nothingChosen, rows, row(2)))).toBe("c");
});

test("what is chosen has the status that the list shows by now, as far as it shows it", () => {
  const chosen = [row(0), row(1), row(2)];
  const later = [
    rowOf(listed("a", { status: "paused" })),
    { ...rowOf(listed("b", { status: "paused" })), hasLeft: true },
  ];
  expect(asListed(chosen, later).map(({ status }) => status)).toEqual(["paused", "complete", "complete"]);
});

test("what was found later than the list was loaded has the status that was found", () => {
  const found = [rowOf(listed("a", { status: "terminated", updatedAt: "2026-03-01T10:00:01.000Z" }))];
  expect(asListed(found, [rowOf(listed("a", { status: "waiting" }))]).map(({ status }) => status)).toEqual([
    "terminated",
  ]);
});
