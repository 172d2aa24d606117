import { expect, test } from "vitest";
import { horizonOf, lastShown } from "./horizon.ts";
import { runRowsOf } from "./rows.ts";
import { at, sampleMeta, sampleStep } from "./sample-steps.ts";

test("while an instance goes on there is room for what comes, but most of it is what was", () => {
  for (const ms of [1, 300, 5000, 61_000, 86_400_000]) {
    const horizon = horizonOf(0, ms);
    expect(horizon).toBeGreaterThan(ms);
    expect(horizon).toBeLessThanOrEqual(Math.max(200, ms * 1.29));
  }
});

test("what is drawn stays where it is until the room is used up", () => {
  expect(horizonOf(0, 9000)).toBe(horizonOf(0, 10_800));
});

function shownUntil(wake: number, edge: number, isCompressed: boolean) {
  const steps = [sampleStep("nap", { type: "sleep", wake })];
  const run = runRowsOf({ steps, running: [], meta: sampleMeta(), status: "waiting" });
  return lastShown(run, at(edge), isCompressed) - at(0);
}

test("the planned end of a wait is seen unless it is far away, and always where waits are cut short", () => {
  expect(shownUntil(2000, 1000, false)).toBe(2000);
  expect(shownUntil(86_400_000, 1000, false)).toBe(1000);
  expect(shownUntil(86_400_000, 1000, true)).toBe(86_400_000);
});

test("an instance whose start is still to come is seen until then, however far that is", () => {
  const meta = sampleMeta({ started: null, due: 3_600_000 });
  const run = runRowsOf({ steps: [], running: [], meta, status: "active" });
  for (const isCompressed of [true, false])
    expect(lastShown(run, at(80_000), isCompressed)).toBe(at(3_600_000));
});

test("what has ended ends where it ended", () => {
  const run = runRowsOf({ steps: [], running: [], meta: sampleMeta({ ended: 70 }), status: "complete" });
  expect(lastShown(run, at(70), false)).toBe(at(70));
});
