import { expect, test } from "vitest";
import { type KnownWait, waitWords } from "./waits.ts";

const approval = { stepName: "approval", eventType: "approved" };
const news = { stepName: "news", topic: "prices" };

test.each<[reason: string, waitsFor: KnownWait["waitsFor"], words: string, unknown: string]>([
  ["waiting-for-event", approval, "approval ← approved, times out in 2 h", "approval ← approved"],
  ["waiting-for-topic", news, "news ← topic prices, times out in 2 h", "news ← topic prices"],
  ["sleeping", { stepName: "nap" }, "nap wakes in 2 h", "nap"],
  ["waiting-for-retry", { stepName: "charge" }, "charge tries again in 2 h", "charge"],
  ["queued", undefined, "due in 2 h", ""],
])("%s has a word of its own for when its time is over", (reason, waitsFor, words, unknown) => {
  const wait = { reason, ...(waitsFor ? { waitsFor } : {}) };
  expect([waitWords(wait, "in 2 h"), waitWords(wait, null)]).toEqual([words, unknown]);
});

test("of a wait that nobody has asked about only its end is told", () => {
  expect(waitWords(undefined, "in 2 h")).toBe("due in 2 h");
});
