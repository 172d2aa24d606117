import fc from "fast-check";
import { expect, test } from "vitest";
import { readJson } from "./json.ts";
import { findJsonMistake } from "./json-mistake.ts";
import { UsageError } from "./problems.ts";

test.each([
  ["", 0, "a value is missing"],
  ["abc", 0, "a value was expected"],
  ["{a:1}", 1, "a name in double quotes was expected"],
  ['{"a":}', 5, "a value was expected"],
  ['{"a" 1}', 5, '":" was expected'],
  ['{"a":1', 6, '"," or "}" was expected'],
  ["[1 2]", 3, '"," or "]" was expected'],
  ["[1,]", 3, "a value was expected"],
  ['"open', 5, "a double quote is missing"],
  ['"a\nb"', 2, "this cannot stand in a text"],
  ['"\\x"', 1, "this cannot stand in a text"],
  ["1 2", 2, "nothing more was expected"],
  ["truely", 0, "a value was expected"],
  ["01", 1, "nothing more was expected"],
])("shows where %j stops being JSON", (text, at, expected) => {
  expect(findJsonMistake(text)).toMatchObject({ at, expected });
});

test("a mistake is found in every text that is no JSON, and in no other", () => {
  const almost = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom("", ",", '"', "}", "x", "\\"))
    .map(([text, at, put]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + put + text.slice(place + 1);
    });
  fc.assert(
    fc.property(almost, (text) => {
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      const { at, expected } = findJsonMistake(text);
      const isAtEnd = at === text.length && expected === "nothing more was expected";
      expect(isAtEnd).toBe(isJson);
    }),
    { numRuns: 500 },
  );
});

test("the place in a longer text is shown with a mark under it", () => {
  const text = '{\n  "amount": 5,\n  "currency": EUR,\n  "note": ""\n}';
  const error = problemOf(text);
  expect(error.message).toBe("order.json is not JSON at line 3, column 15: a value was expected.");
  expect(error.hint?.split("\n").slice(1, 3)).toEqual(['      "currency": EUR,', "                  ^"]);
});

function problemOf(text: string): UsageError {
  try {
    readJson("order.json", text);
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error("It was taken.");
}
