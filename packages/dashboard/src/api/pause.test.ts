import { expect, test } from "vitest";
import { changeCount, tellChange } from "./changes.ts";
import { pause } from "./pause.ts";

const long = 3_600_000;

test("what was done here is asked for at once, also if it was done while the last answer was on its way", async () => {
  const leaving = new AbortController();
  const before = changeCount();
  const waiting = pause(long, before, leaving.signal);
  tellChange();
  await waiting;
  await pause(long, before, leaving.signal);
  expect(changeCount()).toBe(before + 1);
});

test("who left waits no longer", async () => {
  const leaving = new AbortController();
  const waiting = pause(long, changeCount(), leaving.signal);
  leaving.abort();
  await waiting;
  await pause(long, changeCount(), leaving.signal);
});
