import { describe, expect, test } from "vitest";
import type { RenewAnswer } from "../../../packages/everstep/src/store/store.ts";
import type { StoreCall } from "../../../packages/everstep/src/testing/intercept-store.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import { StaleTurns } from "./stale-turns.ts";

const member = { number: 1 } as Member;
const other = { number: 2 } as Member;
const answerMsMax = 10;
const leaseMs = 1000;
const lost: RenewAnswer = { kind: "lost" };
const renewed: RenewAnswer = { kind: "renewed", eventSeq: 0, paused: false };

describe("turns that have not heard that the store went back", () => {
  test("no turn is one before the store went back, nor one that began later", () => {
    const { stale, isStaleAfter, wentBack, claim } = world();
    expect(isStaleAfter(0)).toBe(false);
    wentBack();
    expect(isStaleAfter(0)).toBe(true);
    claim({ token: 2, by: other });
    expect(stale.isStale({ member: other, run: "w/a/1" })).toBe(false);
  });

  test("a renewal that says lost ends it, once the answer is there", () => {
    const { wentBack, renew, isStaleAfter } = world();
    wentBack();
    renew(lost, { isHeard: false });
    expect(isStaleAfter(answerMsMax + 1)).toBe(true);
    renew(lost);
    expect(isStaleAfter(answerMsMax)).toBe(true);
    expect(isStaleAfter(1)).toBe(false);
  });

  test("only the first answer counts", () => {
    const { wentBack, renew, isStaleAfter } = world();
    wentBack();
    renew(lost);
    expect(isStaleAfter(answerMsMax + 1)).toBe(false);
    renew(lost);
    expect(isStaleAfter(0)).toBe(false);
  });

  test("a commit that is superseded ends it, once the answer is there", () => {
    const { wentBack, commit, isStaleAfter } = world();
    wentBack();
    commit(1, "superseded", { isHeard: false });
    expect(isStaleAfter(answerMsMax + 1)).toBe(true);
    commit(1, "superseded");
    expect(isStaleAfter(answerMsMax + 1)).toBe(false);
  });

  test("a commit that took effect ends it, whether anybody hears of it or not", () => {
    const { wentBack, commit, isStaleAfter } = world();
    wentBack();
    commit(1, "committed", { isHeard: false });
    expect(isStaleAfter(answerMsMax + 1)).toBe(false);
  });

  test("a lease that goes on ends it, unless a commit was lost of which the turn may hear yet", () => {
    const { wentBack, commit, renew, isStaleAfter } = world();
    commit(1, "committed");
    wentBack();
    renew(renewed, { applied: 0 });
    expect(isStaleAfter(answerMsMax + 1)).toBe(true);
    renew(renewed, { applied: 1 });
    expect(isStaleAfter(answerMsMax + 1)).toBe(false);
  });

  test("an answer that was on its way when the store went back tells nothing", () => {
    const { wentBack, commit, isStaleAfter } = world();
    commit(1, "committed", { wentBackMeanwhile: true });
    expect(isStaleAfter(answerMsMax + 1)).toBe(true);
    wentBack();
    commit(2, "superseded", { wentBackMeanwhile: true });
    expect(isStaleAfter(answerMsMax + 1)).toBe(true);
  });

  test("a store that is busy says nothing", () => {
    const { wentBack, renew, isStaleAfter } = world();
    wentBack();
    renew({ kind: "busy" });
    expect(isStaleAfter(answerMsMax + 1)).toBe(true);
  });

  test("a claim ends it, and what comes of an earlier turn with the run does not", () => {
    const { wentBack, claim, renew, isStaleAfter } = world();
    claim({ token: 2 });
    wentBack();
    renew(lost);
    expect(isStaleAfter(answerMsMax + 1)).toBe(true);
    claim({ token: 3 });
    expect(isStaleAfter(answerMsMax + 1)).toBe(false);
  });

  test("a claim of another run of the same name does not end it; who begins then, nobody can tell", () => {
    const { wentBack, claim, renew, isStaleAfter, isEither } = world();
    wentBack();
    expect(isEither()).toBe(false);
    claim({ token: 2, runId: 8 });
    expect(isStaleAfter(answerMsMax + 1)).toBe(true);
    expect(isEither()).toBe(true);
    renew(lost);
    expect(isStaleAfter(answerMsMax + 1)).toBe(false);
    expect(isEither()).toBe(false);
  });

  test("without any answer it ends with the lease, which the turn knows by itself", () => {
    const { wentBack, commit, renew, isStaleAfter } = world();
    commit(1, "committed");
    wentBack();
    expect(isStaleAfter(leaseMs)).toBe(true);
    renew(renewed, { applied: 0 });
    expect(isStaleAfter(leaseMs + answerMsMax)).toBe(true);
    expect(isStaleAfter(1)).toBe(false);
  });

  test("it begins again when the store goes back again", () => {
    const { wentBack, renew, isStaleAfter } = world();
    wentBack();
    renew(renewed);
    expect(isStaleAfter(answerMsMax + 1)).toBe(false);
    wentBack();
    expect(isStaleAfter(answerMsMax + 1)).toBe(true);
  });

  test("a turn that is over has nothing to hear of", () => {
    const { wentBack, renew, isStaleAfter } = world();
    renew(lost);
    wentBack();
    expect(isStaleAfter(0)).toBe(false);
  });
});

interface Heard {
  readonly isHeard?: boolean;
  /** After the call took effect, and before its answer is there. */
  readonly wentBackMeanwhile?: boolean;
  readonly by?: Member;
}

interface Claiming {
  readonly token: number;
  readonly runId?: number;
  readonly by?: Member;
}

/** One process has run w/a/1 under token 1. */
function world() {
  let now = 0;
  const stale = new StaleTurns({ answerMsMax, leaseMs, now: () => now });
  const lease = { runId: 7, token: 1 };
  const entry = { member, run: "w/a/1" };
  const call = (parts: object, answer: unknown, heard: Heard = {}): void => {
    const { isHeard = true, wentBackMeanwhile = false, by = member } = heard;
    const made = { requests: [], args: [], ...parts } as unknown as StoreCall;
    stale.applied(by, made, answer);
    if (wentBackMeanwhile) stale.wentBack();
    if (isHeard) stale.answered(by, made, answer);
  };
  const claim = ({ token, runId = 7, by = member }: Claiming): void => {
    const claimed = { lease: { runId, token }, workflowName: "w", instanceId: "a", runNumber: 1 };
    call({ method: "claim" }, [claimed], { by });
  };
  claim(lease);
  return {
    stale,
    isEither: () => stale.isEither(entry),
    claim,
    wentBack: () => stale.wentBack(),
    isStaleAfter(ms: number): boolean {
      now += ms;
      return stale.isStale(entry);
    },
    renew(answer: RenewAnswer, { applied = 0, ...heard }: Heard & { readonly applied?: number } = {}): void {
      call({ method: "renew", args: [[{ lease, begun: [], applied }]] }, [answer], heard);
    },
    commit(number: number, kind: "committed" | "superseded", heard?: Heard): void {
      const requests = [{ kind: "commit", lease, boundary: { number, next: { kind: "continue" } } }];
      call({ method: "write", requests }, [{ kind }], heard);
    },
  };
}
