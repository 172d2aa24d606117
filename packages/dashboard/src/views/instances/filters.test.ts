import { describe, expect, test } from "vitest";
import {
  type Filters,
  hasCounts,
  isNarrowed,
  listOptionsOf,
  nameOf,
  noFilters,
  readFilters,
  toggled,
  writeFilters,
} from "./filters.ts";

const read = (text: string): Filters => {
  const query = new URLSearchParams(text);
  return readFilters((name) => query.get(name));
};
const everything: Filters = {
  workflowName: "order",
  statuses: ["active", "errored"],
  isDeadLetter: true,
  createdFrom: Date.parse("2026-01-02T03:04:00.000Z"),
  last: "1d",
  createdBefore: Date.parse("2026-02-02T03:04:00.000Z"),
  idPrefix: "o-",
  order: "asc",
};

describe("what a person looks for is in the address", () => {
  test("and comes out of it as it went in", () => {
    const query = new URLSearchParams(writeFilters(everything) as Record<string, string>);
    expect(readFilters((name) => query.get(name))).toEqual(everything);
  });

  test("without anything it is everything, newest first", () => {
    expect(isNarrowed(read(""))).toBe(false);
    expect(isNarrowed(read("order=asc"))).toBe(false);
    expect(isNarrowed(read("id=a"))).toBe(true);
    expect(listOptionsOf(read(""), 0)).toEqual({ brief: true, order: "desc" });
  });

  test("what cannot be read is left out", () => {
    expect(nameOf(read("status=wrong,,&from=never&until=&last=9y&last=constructor&order=up&dead=1"))).toBe(
      nameOf(read("")),
    );
  });

  test("taking all filters out leaves none", () => {
    expect(Object.values(noFilters).every((value) => value === null)).toBe(true);
  });
});

test("the service is asked for exactly what is looked for", () => {
  expect(listOptionsOf({ ...everything, last: null }, 0)).toEqual({
    brief: true,
    order: "asc",
    status: ["active", "errored"],
    deadLetter: true,
    createdFrom: everything.createdFrom,
    createdBefore: everything.createdBefore,
    idPrefix: "o-",
  });
  expect(listOptionsOf(everything, 100_000_000).createdFrom).toBe(100_000_000 - 86_400_000);
});

test("a status is switched on and off", () => {
  expect(toggled(["errored"], "active")).toEqual(["active", "errored"]);
  expect(toggled(["active", "errored"], "active")).toEqual(["errored"]);
});

test("chips have counts only where the service counts what is filtered", () => {
  const of = (query: Readonly<Record<string, string>>) =>
    hasCounts(readFilters((name) => query[name] ?? null));
  expect([of({}), of({ workflow: "order", status: "waiting" }), of({ order: "asc" })]).toEqual([
    true,
    true,
    true,
  ]);
  expect([of({ id: "zzz" }), of({ dead: "true" }), of({ last: "1h" }), of({ until: "2026-01-01" })]).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
