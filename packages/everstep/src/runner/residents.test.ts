import { describe, expect, test } from "vitest";
import type { Turn } from "../engine/turn.ts";
import type { Claim } from "../model/lease.ts";
import { systemRuntime } from "../system-runtime.ts";
import { Residents } from "./residents.ts";

/** A claim of a run that was left under this token, with this commit. */
function claimOf(runId: number, left: number, commit = 3): Claim {
  const lease = { runId, token: left + 1000, owner: "me", expiresAt: 0 };
  return { lease, left: { token: left, commit, ranOut: false } } as Claim;
}

/** A suspended turn that remembers whether it was dropped. */
function turnOf(runId: number, token = 1, bytes = 0) {
  const turn = {
    bytes,
    claim: { lease: { runId, token, owner: "me", expiresAt: 0 } } as Claim,
    appliedNumber: 3,
    state: "suspended",
    abandon() {
      turn.state = "closed";
    },
  };
  return turn as unknown as Turn & { state: string };
}

describe("suspended turns kept in memory", () => {
  test("go on where the run is just as they left it", () => {
    const residents = new Residents(systemRuntime, 10);
    const turn = turnOf(1, 7);
    residents.keep(turn);
    expect(residents.take(claimOf(1, 7))).toBe(turn);
    expect(turn.state).toBe("suspended");
  });

  test.each([
    ["somebody else has had the run in between", 9, 3],
    ["somebody has changed the run since", 8, 3],
    ["the store has forgotten their last commit", 7, 2],
    ["the store has forgotten that they had the run", 6, 3],
  ])("are dropped where %s", (_, left, commit) => {
    const residents = new Residents(systemRuntime, 10);
    const turn = turnOf(1, 7);
    residents.keep(turn);
    expect(residents.take(claimOf(1, left, commit))).toBeUndefined();
    expect(turn.state).toBe("closed");
    expect(residents.take(claimOf(1, 7))).toBeUndefined();
  });

  test("are taken once", () => {
    const residents = new Residents(systemRuntime, 10);
    residents.keep(turnOf(1, 7));
    residents.take(claimOf(1, 7));
    expect(residents.take(claimOf(1, 7))).toBeUndefined();
  });

  test("are not continued when they were closed meanwhile", () => {
    const residents = new Residents(systemRuntime, 10);
    const turn = turnOf(1, 7);
    residents.keep(turn);
    turn.state = "closed";
    expect(residents.take(claimOf(1, 7))).toBeUndefined();
  });

  test("the least recently suspended goes first when there are too many", () => {
    const residents = new Residents(systemRuntime, 2);
    const [a, b, c] = [turnOf(1), turnOf(2), turnOf(3)];
    residents.keep(a);
    residents.keep(b);
    residents.keep(a);
    residents.keep(c);
    expect([a, b, c].map(({ state }) => state)).toEqual(["suspended", "closed", "suspended"]);
    expect(residents.take(claimOf(1, 1))).toBe(a);
    expect(residents.take(claimOf(3, 1))).toBe(c);
  });

  test("none are kept where there is no room for any", () => {
    const residents = new Residents(systemRuntime, 0);
    const turn = turnOf(1);
    residents.keep(turn);
    expect(turn.state).toBe("closed");
    expect(residents.take(claimOf(1, 1))).toBeUndefined();
  });

  test("all of them can be dropped", () => {
    const residents = new Residents(systemRuntime, 10);
    const turns = [turnOf(1), turnOf(2), turnOf(3)];
    for (const turn of turns) residents.keep(turn);
    residents.clear();
    expect(turns.map(({ state }) => state)).toEqual(["closed", "closed", "closed"]);
  });

  test("take so many bytes at most, the oldest give way", () => {
    const residents = new Residents(systemRuntime, 10, 100);
    const [old, young, huge] = [turnOf(1, 1, 60), turnOf(2, 1, 50), turnOf(3, 1, 101)];
    residents.keep(old);
    residents.keep(young);
    expect([old.state, young.state, residents.bytes]).toEqual(["closed", "suspended", 50]);
    residents.keep(huge);
    expect([young.state, huge.state, residents.bytes]).toEqual(["closed", "closed", 0]);
  });

  test("that were taken take none any more", () => {
    const residents = new Residents(systemRuntime, 10, 100);
    residents.keep(turnOf(1, 1, 60));
    residents.keep(turnOf(1, 2, 70));
    expect(residents.bytes).toBe(70);
    residents.take(claimOf(1, 3));
    expect(residents.bytes).toBe(0);
  });
});
