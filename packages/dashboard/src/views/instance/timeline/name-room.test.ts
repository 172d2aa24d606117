import { expect, test } from "vitest";
import { wantedNameRoom } from "./name-room.ts";

const row = (name: string, depth = 0) => ({ name, depth });

test("the column of names grows with the longest name and how deep it is", () => {
  expect(wantedNameRoom([row("mail"), row("ship")])).toBe(280);
  expect(wantedNameRoom([row("mail"), row("reserve the goods in the warehouse")])).toBe(520);
  expect(wantedNameRoom([row("reserve the goods in the warehouse", 3)])).toBeGreaterThan(520);
});

test("a name that is a little longer does not move what is drawn", () => {
  expect(wantedNameRoom([row("reserve")])).toBe(wantedNameRoom([row("reserves")]));
  expect(wantedNameRoom([])).toBe(240);
});
