import { expect, test } from "vitest";
import { operatorCategory } from "../model/log-line.ts";
import type { Store } from "../store/store.ts";
import { lastAction } from "./last-action.ts";

function reads(json: string): Pick<Store, "listLogs"> {
  const line = {
    ...{ seq: 1, stepKey: null, attempt: null, level: "info", isReplay: false, createdAt: 1000 },
    ...{ category: operatorCategory, message: "Paused by ann.", data: { json, marks: null } },
  } as const;
  return { listLogs: async () => ({ items: [line], next: null }) as never };
}

test("who did what is in the data of the line", async () => {
  expect(await lastAction(reads('{"action":"pause","actor":"ann"}'), 1)).toEqual({
    ...{ action: "pause", actor: "ann", text: "Paused by ann.", at: new Date(1000) },
  });
});

test.each(["{", "null", "7"])("a line whose data is damaged (%s) still says what it says", async (json) => {
  expect(await lastAction(reads(json), 1)).toEqual({
    ...{ action: "", actor: "", text: "Paused by ann.", at: new Date(1000) },
  });
});
