import { expect, test } from "vitest";
import { blocksOf, frameOf, rightRoom } from "./drawing.ts";
import { runRowsOf } from "./rows.ts";
import { at, type SampleStep, sampleMeta, sampleStep } from "./sample-steps.ts";
import { makeScale } from "./scale.ts";

const scale = makeScale({ from: at(0), to: at(1000) });
const frame = frameOf(scale, { begin: 0, end: 1 }, 500 + rightRoom);

function blocks(given: SampleStep, now = 0, seen = frame) {
  const told = {
    steps: [sampleStep("a", given)],
    running: [],
    meta: sampleMeta(),
    status: "active",
  } as const;
  return blocksOf(runRowsOf(told).rows[0]!, seen, at(now));
}

test("bars are where their times are, and as wide as they took", () => {
  expect(blocks({ from: 100, to: 900, failed: [{ at: 200, retry: 800 }] })).toMatchObject([
    { kind: "attempt", outcome: "failed", left: 50, width: 50 },
    { kind: "retry", left: 100, width: 300 },
    { kind: "attempt", outcome: "completed", left: 400, width: 50 },
  ]);
});

test("what took no time can be seen all the same", () => {
  expect(blocks({ from: 100, to: 100 })[0]).toMatchObject({ left: 50, width: 4 });
});

test("what was short and last is drawn within the chart, whole", () => {
  const last = blocks({ from: 999, to: 1000, failed: [{ at: 1000 }], status: "errored" });
  for (const { left, width } of last) expect(left + width).toBeLessThanOrEqual(500 + rightRoom);
  expect(last.at(-1)).toMatchObject({ outcome: "failed", width: 6 });
});

test("what goes on grows, over what is planned for it", () => {
  expect(blocks({ type: "sleep", from: 0, wake: 800 }, 400)).toMatchObject([
    { kind: "planned", left: 0, width: 400, isLive: false },
    { kind: "sleep", left: 0, width: 200, isLive: true },
  ]);
});

test("what is out of sight is not drawn, and nothing is drawn far beyond it", () => {
  const close = frameOf(scale, { begin: 0.5, end: 0.501 }, 500 + rightRoom);
  expect(blocks({ from: 100, to: 200 }, 0, close)).toEqual([]);
  expect(blocks({ from: 700, to: 800 }, 0, close)).toEqual([]);
  expect(blocks({ from: 0, to: 1000 }, 0, close)).toMatchObject([{ left: -16, width: 532 + rightRoom }]);
});

test("a time on the screen is the time that is drawn there", () => {
  expect(frame.timeAt(frame.xOf(at(333)))).toBeCloseTo(at(333), 3);
});
