import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeCursor, encodeCursor } from "./cursor.ts";

const refusal = expect.objectContaining({ code: "INVALID_CURSOR" });

describe("a place in a list", () => {
  test("comes back as it was, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (position) => {
        const cursor = encodeCursor("instances:order", position);
        expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(decodeCursor("instances:order", cursor)).toBe(position);
      }),
      { seed: 7 },
    );
  });

  test.each([
    ["steps", "events"],
    ["instances:a", "instances:b"],
    ["waiters:a:b", "waiters:a"],
    ["waiters:a", "waiters:a:b"],
  ])("of %s is refused by %s", (list, other) => {
    for (const position of ["5", "b:5", "b", ""])
      expect(() => decodeCursor(other, encodeCursor(list, position))).toThrow(refusal);
  });

  test.each([
    ["nothing", ""],
    ["text that is no cursor", "page-2"],
    ["characters no cursor has", "a=b"],
    ["broken bytes", "____"],
    ["far too much", "A".repeat(5000)],
    ["a number", 5 as never],
    ["null", null as never],
    ["an object", {} as never],
  ])("is not %s", (_, cursor) => {
    expect(() => decodeCursor("steps", cursor)).toThrow(refusal);
  });

  test("long names of lists fit", () => {
    const list = `waiters:${"t".repeat(128)}`;
    expect(decodeCursor(list, encodeCursor(list, "1750000000000.123456"))).toBe("1750000000000.123456");
  });
});
