import { expect, test } from "vitest";
import { endsWait } from "./wait-match.ts";

const wait = { key: "approval#1", eventType: "approved", wakeAt: 100 };
const event = { type: "approved", forStep: null, createdAt: 50 };

test.each([
  ["its type", event, wait, true],
  ["the last millisecond", { ...event, createdAt: 100 }, wait, true],
  ["too late", { ...event, createdAt: 101 }, wait, false],
  ["another type", { ...event, type: "rejected" }, wait, false],
  ["addressed to the wait", { ...event, type: null, forStep: "approval#1" }, wait, true],
  ["addressed elsewhere, though of its type", { ...event, forStep: "other#1" }, wait, false],
  ["no type meets no type", { ...event, type: null }, { ...wait, eventType: null }, false],
])("%s", (_name, sent, open, ends) => {
  expect(endsWait(sent, open)).toBe(ends);
});
