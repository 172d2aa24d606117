import type { WireRunner } from "everstep/client";
import { expect, test } from "vitest";
import { runnerState } from "./runner-state.ts";

const now = Date.parse("2026-03-01T12:00:00.000Z");
const runner = (agoMs: number, more: Partial<WireRunner> = {}): WireRunner =>
  ({ state: "running", isHere: false, seenAt: new Date(now - agoMs).toISOString(), ...more }) as WireRunner;
const here = runner(3000, { isHere: true });

test("a runner that was killed is not said to run once a beat is missing", () => {
  expect(runnerState(runner(12_000), [here], now)).toBe("running");
  expect(runnerState(runner(21_000), [here], now)).toBe("unheard");
  expect(runnerState(runner(60_000, { state: "silent" }), [here], now)).toBe("silent");
  expect(runnerState(runner(60_000, { state: "stopped" }), [here], now)).toBe("stopped");
});

test("a reader's clock that is wrong makes nobody silent", () => {
  const late = now + 3_600_000;
  expect(runnerState(runner(12_000), [here], late)).toBe("running");
  expect(runnerState(runner(40_000), [here], late)).toBe("unheard");
});
