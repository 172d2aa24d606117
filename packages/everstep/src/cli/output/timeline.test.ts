import { expect, test } from "vitest";
import type { WireStep } from "../../wire/index.ts";
import type { Output, Piece } from "./output.ts";
import { writeTimeline } from "./timeline.ts";

const at = (seconds: number): string => new Date(1_780_000_000_000 + seconds * 1000).toISOString();

function linesOf(steps: readonly Partial<WireStep>[], endedAt: string | null, now: string): string {
  const lines: string[] = [];
  const textOf = (piece: Piece): string =>
    typeof piece === "string" ? piece : piece.pieces.map(textOf).join("");
  const out = { columns: 90, line: (...pieces: Piece[]) => lines.push(pieces.map(textOf).join("")) };
  const plain = { depth: 0, parentKey: null, attempts: 0, errors: [], topic: null, settledAt: null };
  writeTimeline(
    steps.map((step) => ({ ...plain, ...step }) as WireStep),
    Date.parse(now),
    out as unknown as Output,
    endedAt,
  );
  return lines.join("\n");
}

const nap = { stepKey: "nap", type: "sleep", status: "waiting", createdAt: at(0), wakeAt: at(600) } as const;
const word = {
  stepKey: "word",
  type: "waitForEvent",
  status: "waiting",
  waitEventType: "approved",
  createdAt: at(0),
  wakeAt: at(3600),
} as const;

test("what an instance waited for when it ended is not finished, and no time of it goes on", () => {
  const text = linesOf([nap, word], at(14), at(5000));
  expect(text).toMatch(/nap +sleep, not finished +14 s +/);
  expect(text).toMatch(/word +event approved, not finished +14 s/);
  expect(text).not.toMatch(/wakes|times out|…/);
});

test("while it lives, a wait says when it is over", () => {
  expect(linesOf([nap], null, at(14))).toMatch(/nap +sleep, wakes in \d+ min +14 s…/);
});
