import { describe, expect, test } from "vitest";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { Applied } from "./applied.ts";
import { KeptLeases } from "./kept-leases.ts";

const leaseMs = 1000;
const holder = { number: 1, process: { state: "running" } } as Member;
const other = { number: 2, process: { state: "running" } } as Member;

describe("a lease that is over", () => {
  test("is held against nobody who had a reason when it ended, however late somebody looks", () => {
    const { leases, lookAt } = held();
    leases.disturbed(holder, 0);
    expect(lookAt(leaseMs + 5 * leaseMs)).toEqual([]);
  });

  test("is held against whoever had none", () => {
    const { lookAt } = held();
    expect(lookAt(0.6 * leaseMs)).toEqual([]);
    expect(lookAt(1.1 * leaseMs)).toMatchObject([{ invariant: "LIV-1" }]);
  });

  test("was not taken from a process that had a reason when it ended, however late it is claimed", () => {
    const { leases, claimAt } = held();
    leases.disturbed(holder, 0);
    expect(claimAt(leaseMs + 5 * leaseMs)).toEqual([]);
  });

  test("was taken from a process that had none; a silent connection beside others is none", () => {
    const { leases, claimAt } = held();
    leases.silenced(holder, 5 * leaseMs);
    expect(claimAt(1.1 * leaseMs)).toEqual([
      {
        invariant: "LIV-1",
        message: "run 7 was taken from process 1, which had reached the store all the time",
      },
    ]);
  });
});

/** A process has run 7 from time 0 on, and has renewed its lease once. */
function held() {
  let now = 0;
  const leases = new KeptLeases({ leaseMs, latencyMsMax: 1, now: () => now });
  const call = (member: Member, method: string, args: unknown, answer: unknown): readonly Finding[] => [
    ...leases.applied({
      member,
      call: { method, args },
      answer,
      written: [],
      runs: [],
      now,
    } as unknown as Applied),
  ];
  const claim = (member: Member, token: number): readonly Finding[] =>
    call(member, "claim", [], [{ lease: { runId: 7, token, expiresAt: now + leaseMs } }]);
  claim(holder, 1);
  call(holder, "renew", [[{ lease: { runId: 7, token: 1 } }], leaseMs], [{ kind: "renewed" }]);
  return {
    leases,
    lookAt(time: number): readonly Finding[] {
      now = time;
      return call(other, "getInstance", [], null);
    },
    claimAt(time: number): readonly Finding[] {
      now = time;
      return claim(other, 2);
    },
  };
}
