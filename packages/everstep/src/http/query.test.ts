import { describe, expect, test } from "vitest";
import {
  flagField,
  readQuery,
  shareField,
  textField,
  timeField,
  wholeField,
  wholeUpTo,
  wordField,
  wordsField,
} from "./query.ts";

const fields = {
  size: wholeField("How many."),
  all: flagField("All of them."),
  order: wordField(["asc", "desc"])("Which first."),
  sample: shareField("Which part."),
  status: wordsField("Which of them."),
  cursor: textField("Where to go on."),
  minutes: wholeUpTo(60)("How far back."),
  from: timeField("Since when."),
};

const read = (query: string) => readQuery(new URLSearchParams(query), fields);

describe("a query is read as what it means", () => {
  test.each([
    ["", {}],
    ["size=25", { size: 25 }],
    ["all=true", { all: true }],
    ["all=false", { all: false }],
    ["order=desc&cursor=a%20b", { order: "desc", cursor: "a b" }],
    ["sample=0.5", { sample: 0.5 }],
    ["sample=1", { sample: 1 }],
    ["sample=.25", { sample: 0.25 }],
    ["status=a,b&status=c", { status: ["a", "b", "c"] }],
    ["status=a, b", { status: ["a", "b"] }],
    ["cursor=", { cursor: "" }],
    ["minutes=60", { minutes: 60 }],
    ["from=2026-01-31T12:00:00Z", { from: Date.UTC(2026, 0, 31, 12) }],
    ["from=2026-01-31T12:00:00.5%2B01:00", { from: Date.UTC(2026, 0, 31, 11, 0, 0, 500) }],
    ["from=0", { from: 0 }],
    ["from=8640000000000000", { from: 8_640_000_000_000_000 }],
  ])("%j", (query, expected) => {
    expect(read(query)).toEqual(expected);
  });
});

describe("what it cannot mean is refused", () => {
  test.each([
    ["minutes=61", '"minutes" must be a whole number from 1 to 60'],
    ["minutes=0", '"minutes" must be a whole number from 1 to 60'],
    ["from=", '"from" must be a time such as'],
    ["from=2026-01-31", '"from" must be a time such as'],
    ["from=2026-13-31T12:00:00Z", '"from" must be a time such as'],
    ["from=2026-01-31T12:00:00", '"from" must be a time such as'],
    ["from=-1", '"from" must be a time such as'],
    ["from=1.5", '"from" must be a time such as'],
    ["from=8640000000000001", '"from" must be a time such as'],
    ["size=0", '"size" must be a whole number above 0'],
    ["size=-1", '"size" must be a whole number above 0'],
    ["size=1.0", '"size" must be a whole number above 0'],
    ["size=1e3", '"size" must be a whole number above 0'],
    ["size= 1", '"size" must be a whole number above 0'],
    ["size=0x10", '"size" must be a whole number above 0'],
    ["size=99999999999999999", '"size" must be a whole number above 0'],
    ["all=1", '"all" must be true or false'],
    ["order=up", '"order" must be one of asc, desc'],
    ["sample=0", '"sample" must be a number above 0 and up to 1'],
    ["sample=", '"sample" must be a number above 0 and up to 1'],
    ["sample=2", '"sample" must be a number above 0 and up to 1'],
    ["cursor=a&cursor=b", '"cursor" is given more than once'],
    ["page=1", '"page" is not known here; known are size, all, order, sample, status, cursor'],
    ["__proto__=1", '"__proto__" is not known here'],
    ["toString=1", '"toString" is not known here'],
  ])("%j: %s", (query, message) => {
    expect(() => read(query)).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", message: expect.stringContaining(message) }),
    );
  });

  test("more values than any route takes are not even gone through", () => {
    const names = Array.from({ length: 101 }, (_, n) => `n${n}`);
    expect(() => read(names.join("&"))).toThrow("The query has more than 100 values");
    expect(() => read(names.slice(1).join("&"))).toThrow('"n1" is not known here');
    expect(() => read("status=a&".repeat(101))).toThrow("The query has more than 100 values");
  });

  test("where there is nothing to ask for, that is said", () => {
    expect(() => readQuery(new URLSearchParams("a=1"), {})).toThrow(/this route takes none/);
  });
});
