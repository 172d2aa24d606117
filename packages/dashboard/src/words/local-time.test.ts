import { expect, test } from "vitest";
import { localTextOf, timeOfLocalText } from "./local-time.ts";

test("times in a field are in the reader's zone, and mean the same moment", () => {
  const at = new Date(2026, 4, 6, 7, 8).getTime();
  expect(localTextOf(at)).toBe("2026-05-06T07:08");
  for (const exact of [at, at + 9000, at + 9001]) expect(timeOfLocalText(localTextOf(exact))).toBe(exact);
});

test("nothing, and what is no time, is no time", () => {
  expect([localTextOf(null), timeOfLocalText(""), timeOfLocalText("x")]).toEqual(["", null, null]);
});
