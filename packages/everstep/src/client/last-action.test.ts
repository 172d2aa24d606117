import { expect, test } from "vitest";
import { operatorCategory, type StoredLogLine } from "../model/log-line.ts";
import { lastAction } from "./last-action.ts";

function lines(json: string): readonly StoredLogLine[] {
  const line: StoredLogLine = {
    ...{ seq: 1, stepKey: null, attempt: null, isReplay: false, createdAt: 1000 },
    level: "info",
    ...{ category: operatorCategory, message: "Paused by ann.", data: { json, marks: null } },
  };
  return [line];
}

test("who did what is in the data of the line", () => {
  expect(lastAction(lines('{"action":"pause","actor":"ann"}'))).toEqual({
    ...{ action: "pause", actor: "ann", text: "Paused by ann.", at: new Date(1000) },
  });
});

test.each(["{", "null", "7"])("a line whose data is damaged (%s) still says what it says", (json) => {
  expect(lastAction(lines(json))).toEqual({
    ...{ action: "", actor: null, text: "Paused by ann.", at: new Date(1000) },
  });
});
