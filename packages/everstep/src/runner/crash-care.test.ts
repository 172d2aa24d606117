import { describe, expect, test } from "vitest";
import type { Claim } from "../model/lease.ts";
import { careFor, isUnderSuspicion } from "./crash-care.ts";

const now = 1_000_000;
const maxCrashes = 10;

function claimOf(runId: number, crashCount: number, ranOut: boolean): Claim {
  const lease = { runId, token: 7, owner: "me", expiresAt: now + 30_000 };
  return { lease, crashCount, left: { token: 3, commit: 1, ranOut } } as Claim;
}

const care = (claims: readonly Claim[], suspects = 0, rolls: readonly number[] = [0.5]) => {
  let roll = 0;
  const { taken, putOff } = careFor(claims, {
    now,
    random: () => rolls[roll++ % rolls.length] as number,
    suspects,
    isOver: ({ crashCount }) => crashCount >= maxCrashes,
  });
  return {
    taken: taken.map(({ lease }) => lease.runId),
    putOff: putOff.map(({ runId, retryAt }) => [runId, (retryAt ?? 0) - now]),
  };
};

describe("claimed runs whose runners died", () => {
  test("are taken at once after the first crash, and after that only once their delay is over", () => {
    expect(care([claimOf(1, 0, false), claimOf(2, 1, true), claimOf(3, 2, true)], 0, [0])).toEqual({
      taken: [1, 2],
      putOff: [[3, 3000]],
    });
    expect(care([claimOf(3, 2, false)])).toEqual({ taken: [3], putOff: [] });
  });

  test("each have a delay of their own, though they died together", () => {
    const { putOff } = care(
      [1, 2, 3].map((run) => claimOf(run, 3, true)),
      0,
      [0, 0.4, 0.9],
    );
    expect(putOff).toEqual([
      [1, 5000],
      [2, 5800],
      [3, 6800],
    ]);
  });

  test("are taken one at a time from the second crash on", () => {
    const claims = [claimOf(1, 2, false), claimOf(2, 2, false), claimOf(3, 1, false), claimOf(4, 5, false)];
    expect(care(claims)).toEqual({
      taken: [1, 3],
      putOff: [
        [2, 2000],
        [4, 2000],
      ],
    });
    expect(care(claims, 1).taken).toEqual([3]);
  });

  test("are not put off where they are to be given up", () => {
    expect(care([claimOf(1, maxCrashes, true), claimOf(2, 2, false)], 0).taken).toEqual([1, 2]);
    expect(care([claimOf(1, maxCrashes, true)], 3).taken).toEqual([1]);
  });

  test("are kept apart for longer with every crash: what kills may take its time", () => {
    const leaseMs = 30_000;
    const suspicion = (crashCount: number, heldMs: number): boolean =>
      isUnderSuspicion(claimOf(1, crashCount, false), heldMs, leaseMs);
    expect([suspicion(1, 0), suspicion(2, 30_000), suspicion(2, 30_001)]).toEqual([false, true, false]);
    expect([suspicion(5, 120_000), suspicion(5, 120_001)]).toEqual([true, false]);
  });
});
