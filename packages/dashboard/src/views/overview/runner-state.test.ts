import type { WireRunner } from "everstep/client";
import { expect, test } from "vitest";
import { isOver, runnerState } from "./runner-state.ts";

const now = Date.parse("2026-03-01T12:00:00.000Z");
const runner = (agoMs: number, more: Partial<WireRunner> = {}): WireRunner =>
  ({
    ...{ state: "running", isHere: false, workflows: ["order"] },
    seenAt: new Date(now - agoMs).toISOString(),
    startedAt: new Date(now - 86_400_000).toISOString(),
    ...more,
  }) as WireRunner;
const here = runner(3000, { isHere: true });

test("a runner that was killed is not said to run once a beat is missing", () => {
  expect(runnerState(runner(12_000), [here], now)).toBe("running");
  expect(runnerState(runner(21_000), [here], now)).toBe("unheard");
  expect(runnerState(runner(60_000, { state: "silent" }), [here], now)).toBe("silent");
  expect(runnerState(runner(60_000, { state: "stopped" }), [here], now)).toBe("stopped");
});

test("a runner is not said to run once another was started in its place, as after a crash, until it is heard of again", () => {
  const startedAt = new Date(now - 5000).toISOString();
  const place = { host: "a", pid: 7 };
  const next = runner(1000, { isHere: true, startedAt, host: "a", pid: 8 });
  const killed = runner(9000, place);
  expect(runnerState(killed, [next, killed], now)).toBe("doubted");
  expect(isOver("doubted")).toBe(false);
  const alive = runner(4000, place);
  expect(runnerState(alive, [next, alive], now)).toBe("running");
  for (const other of [{ host: "b" }, { workflows: ["refund"] }, { state: "stopped" }] as const)
    expect(runnerState(killed, [{ ...next, ...other }, killed], now)).toBe("running");
  expect(runnerState(next, [next, killed], now)).toBe("running");
});

test("a runner that died is no alarm once another was started in its place, or others have gone on for an hour", () => {
  const startedAt = new Date(now - 59_000).toISOString();
  const next = runner(3000, { isHere: true, startedAt });
  const dead = runner(60_000, { state: "silent" });
  expect(runnerState(dead, [next, dead], now)).toBe("replaced");
  // Those that were there before do its work, but there is one less of them.
  expect(runnerState(dead, [here, dead], now)).toBe("silent");
  const old = runner(3_700_000, { state: "silent" });
  expect(runnerState(old, [here, old], now)).toBe("replaced");
});

test("a runner that died stays an alarm while nobody does its work", () => {
  const old = runner(86_000_000, { state: "silent", workflows: ["order", "refund"] });
  expect(runnerState(old, [here, old], now)).toBe("silent");
  const stopped = runner(60_000, { state: "stopped", workflows: ["refund"] });
  expect(runnerState(old, [here, old, stopped], now)).toBe("silent");
});

test("only those that are over stand behind the fold", () => {
  expect((["running", "unheard", "silent", "replaced", "stopped"] as const).filter(isOver)).toEqual([
    "replaced",
    "stopped",
  ]);
});

test("a reader's clock that is wrong makes nobody silent", () => {
  const late = now + 3_600_000;
  expect(runnerState(runner(12_000), [here], late)).toBe("running");
  expect(runnerState(runner(40_000), [here], late)).toBe("unheard");
});
