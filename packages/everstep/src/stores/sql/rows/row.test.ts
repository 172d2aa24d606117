import { expect, test } from "vitest";
import { flag, integer, integerOrNull, text, word } from "./row.ts";

const unreadable = expect.objectContaining({ code: "HISTORY_UNREADABLE" });

test("integers come as numbers, bigints or text, depending on the driver", () => {
  for (const value of [42, 42n, "42"]) expect(integer({ n: value }, "n")).toBe(42);
  expect(integerOrNull({ n: null }, "n")).toBeNull();
});

test.each([null, "", "x", "9007199254740993", 2n ** 60n, undefined])("%s is no integer", (value) => {
  expect(() => integer({ n: value }, "n")).toThrow(unreadable);
});

test("text may come as bytes, and then comes whole", () => {
  const bytes = new TextEncoder().encode("\ufeffa\u0000b 😀");
  expect(text({ message: bytes }, "message")).toBe("\ufeffa\u0000b 😀");
});

test("text and words are checked, and the column is named", () => {
  expect(text({ name: "a" }, "name")).toBe("a");
  expect(() => text({ name: 1 }, "name")).toThrow(/"name"/);
  expect(word({ status: "on" }, "status", ["on", "off"])).toBe("on");
  expect(() => word({ status: "dim" }, "status", ["on", "off"])).toThrow(unreadable);
});

test("flags are 0 and 1 where there is no boolean type", () => {
  expect([1, 1n, true, 0, 0n, false].map((value) => flag({ is: value }, "is"))).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});
