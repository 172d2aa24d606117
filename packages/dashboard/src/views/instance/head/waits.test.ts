import type { WireStep } from "everstep/client";
import { expect, test } from "vitest";
import { awaitedTypes, waitsOf } from "./waits.ts";

function step(given: Partial<WireStep>): WireStep {
  const nothing = { nextRetryAt: null, wakeAt: null, waitEventType: null, topic: null };
  return { status: "waiting", type: "do", ...nothing, ...given } as WireStep;
}

const nap = step({ type: "sleep", wakeAt: "2026-01-01T00:00:09Z" });
const approval = step({ type: "waitForEvent", waitEventType: "approved", wakeAt: "2026-01-01T00:00:05Z" });
const news = step({ type: "waitForEvent", topic: "prices", wakeAt: "2026-01-01T00:00:07Z" });
const charge = step({ nextRetryAt: "2026-01-01T00:00:02Z" });

test("what ends first comes first, and what is over is left out", () => {
  const over = step({ type: "sleep", status: "completed", wakeAt: "2026-01-01T00:00:00Z" });
  const waits = waitsOf([nap, over, approval, news, charge]);
  expect(waits.map(({ kind, what }) => [kind, what])).toEqual([
    ["retry", null],
    ["event", "approved"],
    ["topic", "prices"],
    ["sleep", null],
  ]);
});

test("a type that several branches wait for is offered once, a topic not at all", () => {
  expect(awaitedTypes([approval, approval, news])).toEqual(["approved"]);
});
