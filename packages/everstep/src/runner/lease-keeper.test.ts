import { describe, expect, test } from "vitest";
import type { Turn } from "../engine/turn.ts";
import type { BegunBody } from "../model/instance.ts";
import type { Lease } from "../model/lease.ts";
import type { RenewAnswer, Renewal, Store } from "../store/store.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { LeaseKeeper } from "./lease-keeper.ts";

const leaseMs = 30_000;

function leaseOf(runId: number, token = 1): Lease {
  return { runId, token, owner: "me", expiresAt: Number.POSITIVE_INFINITY };
}

class SomeTurn {
  readonly begun: readonly BegunBody[] = [{ key: "a", name: "a", start: 1, at: 0 }];
  eventSeq = 0;
  heard: string[] = [];
  abandonedAt: number | null = null;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  abandon(reason: Error): void {
    this.abandonedAt ??= this.#now();
    this.heard.push(`abandoned: ${(reason as { code?: string }).code}`);
  }

  flushLogs(): void {
    this.heard.push("flush");
  }

  eventsArrived(): void {
    this.heard.push("events");
  }

  paused(): void {
    this.heard.push("paused");
  }

  resumed(): void {
    this.heard.push("not paused");
  }
}

type Answer = (renewals: readonly Renewal[]) => Promise<readonly RenewAnswer[]>;
const renewed: RenewAnswer = { kind: "renewed", eventSeq: 0, paused: false };

function begin(
  answer: Answer = async (renewals) => renewals.map(() => renewed),
  freshenClock: () => Promise<void> | null = () => null,
  runtime = createFakeRuntime(),
) {
  const signals: (AbortSignal | undefined)[] = [];
  const calls: { at: number; runs: unknown[]; until: number; begun: unknown }[] = [];
  const store = {
    renew(renewals: readonly Renewal[], until: number, now: number, signal?: AbortSignal) {
      signals.push(signal);
      calls.push({
        at: runtime.monotonic(),
        runs: renewals.map(({ lease }) => lease.runId),
        until: until - now,
        begun: renewals.map(({ begun }) => begun.map(({ key }) => key)),
      });
      return answer(renewals);
    },
  } as unknown as Store;
  const keeper = new LeaseKeeper(store, runtime, leaseMs, freshenClock);
  const hold = (runId: number, token = 1): SomeTurn => {
    const turn = new SomeTurn(() => runtime.monotonic());
    keeper.hold(turn as unknown as Turn, leaseOf(runId, token), runtime.monotonic());
    return turn;
  };
  return { runtime, keeper, hold, calls, signals };
}

describe("a lease that is held", () => {
  test("is renewed after a share of its third that chance decides, so that a crowd does not renew at once", async () => {
    const firstAt = async (float: number): Promise<number | undefined> => {
      const fake = createFakeRuntime();
      const { runtime, hold, calls } = begin(
        undefined,
        undefined,
        Object.assign(fake, { float: () => float }),
      );
      hold(1);
      await runtime.advance(leaseMs / 3);
      return calls[0]?.at;
    };
    const [early, late] = [await firstAt(0), await firstAt(0.75)];
    expect(late).toBeLessThanOrEqual(leaseMs / 3);
    expect(early).toBeLessThan(late ?? 0);
  });

  test("is renewed every third of its length, for twenty times as long", async () => {
    const { runtime, keeper, hold, calls } = begin();
    const turn = hold(1);
    await runtime.advance(20 * leaseMs);
    expect(keeper.holds(leaseOf(1))).toBe(true);
    expect(turn.abandonedAt).toBeNull();
    expect(calls[0]).toMatchObject({ runs: [1], until: leaseMs, begun: [["a"]] });
    const gaps = calls.map(({ at }, index) => at - (calls[index - 1]?.at ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(leaseMs / 3);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual((leaseMs / 3) * 0.8);
  });

  test("whenever it was taken, two thirds of it never pass without a renewal", async () => {
    for (let offset = 0; offset <= leaseMs / 3; offset += 500) {
      const { runtime, hold, calls } = begin();
      hold(1);
      await runtime.advance(offset);
      hold(2);
      await runtime.advance(3 * leaseMs);
      const renewals = calls.filter(({ runs }) => runs.includes(2)).map(({ at }) => at);
      const gaps = renewals.map((at, index) => at - (renewals[index - 1] ?? offset));
      expect(Math.max(...gaps)).toBeLessThanOrEqual((2 * leaseMs) / 3);
    }
  });

  test("is renewed before others are looked for if its time is up by the store's clock: the machine may have slept", async () => {
    const { runtime, keeper, hold, calls } = begin();
    const turn = hold(1);
    hold(2);
    const { now } = runtime;
    keeper.extended(leaseOf(1), runtime.monotonic(), now() + leaseMs);
    await keeper.catchUp();
    expect(calls).toEqual([]);
    Object.assign(runtime, { now: () => now() + 10 * leaseMs });
    await Promise.all([keeper.catchUp(), keeper.catchUp()]);
    expect(calls.map(({ runs }) => runs)).toEqual([[1]]);
    expect(keeper.holds(leaseOf(1))).toBe(true);
    expect(turn.abandonedAt).toBeNull();
    await keeper.catchUp();
    expect(calls).toHaveLength(1);
  });

  test("many are renewed in one call", async () => {
    const { runtime, hold, calls } = begin();
    for (const runId of [1, 2, 3]) hold(runId);
    await runtime.advance(leaseMs / 3);
    expect(calls.map(({ runs }) => runs)).toEqual([[1, 2, 3]]);
  });

  test("one just taken is left for the next round", async () => {
    const { runtime, hold, calls } = begin();
    hold(1);
    await runtime.advance(7000);
    hold(2);
    await runtime.advance(leaseMs / 3 - 7000);
    expect(calls.map(({ runs }) => runs)).toEqual([[1]]);
  });

  test("is counted from before the store was asked", async () => {
    const runtime = createFakeRuntime();
    const keeper = new LeaseKeeper(
      { renew: () => new Promise(() => {}) } as unknown as Store,
      runtime,
      leaseMs,
    );
    const since = runtime.monotonic();
    await runtime.advance(5000);
    const turn = new SomeTurn(() => runtime.monotonic()) as unknown as Turn;
    keeper.hold(turn, leaseOf(1), since);
    await runtime.advance(leaseMs - 5001);
    expect(keeper.holds(leaseOf(1))).toBe(true);
    await runtime.advance(1);
    expect(keeper.holds(leaseOf(1))).toBe(false);
  });

  test("a renewal counts from before it was sent, however late its answer, also when it was given up", async () => {
    const answers: (() => void)[] = [];
    const { runtime, hold, calls } = begin(
      (renewals) =>
        new Promise((resolve) => {
          answers.push(() => resolve(renewals.map(() => renewed)));
        }),
    );
    const turn = hold(1);
    await runtime.advance(20_000);
    answers[0]?.();
    await runtime.settle();
    await runtime.advance(2 * leaseMs);
    expect(turn.abandonedAt).toBe((calls[0]?.at as number) + leaseMs);
  });

  test("a late answer never shortens it", async () => {
    const answers: (() => void)[] = [];
    const { runtime, keeper, hold, calls } = begin(
      (renewals) =>
        new Promise((resolve) => {
          answers.push(() => resolve(renewals.map(() => renewed)));
        }),
    );
    hold(1);
    await runtime.advance(20_000);
    answers[1]?.();
    answers[0]?.();
    await runtime.advance((calls[1]?.at as number) + leaseMs - 20_001);
    expect(keeper.holds(leaseOf(1))).toBe(true);
  });

  test("a renewal brings news: log lines are kept, events fetched, a pause heard of", async () => {
    const { runtime, hold } = begin(async () => [{ kind: "renewed", eventSeq: 3, paused: true }]);
    const turn = hold(1);
    await runtime.advance(leaseMs / 3);
    expect(turn.heard).toEqual(["flush", "events", "paused"]);
  });

  test("and of its end, with the first renewal after it", async () => {
    let paused = true;
    const { runtime, hold } = begin(async () => [{ kind: "renewed", eventSeq: 0, paused }]);
    const turn = hold(1);
    await runtime.advance(leaseMs / 3);
    paused = false;
    await runtime.advance(leaseMs / 3);
    expect(turn.heard.filter((word) => word !== "flush")).toEqual(["paused", "not paused"]);
  });

  test("events the turn knows of are no news", async () => {
    const { runtime, hold } = begin(async () => [{ kind: "renewed", eventSeq: 3, paused: false }]);
    const turn = hold(1);
    turn.eventSeq = 3;
    await runtime.advance(leaseMs / 3);
    expect(turn.heard).toEqual(["flush", "not paused"]);
  });

  test("once given back it is neither renewed nor watched, and no timer stays", async () => {
    const { runtime, keeper, hold, calls } = begin();
    const turn = hold(1);
    keeper.drop(leaseOf(1));
    expect(keeper.holds(leaseOf(1))).toBe(false);
    await runtime.advance(5 * leaseMs);
    expect(calls).toEqual([]);
    expect(turn.heard).toEqual([]);
    expect(runtime.nextTimerAt()).toBeNull();
  });

  test("under an older token is another lease: its end takes nothing from the newer one", async () => {
    const { runtime, keeper, hold, calls } = begin();
    hold(1, 1);
    const newer = hold(1, 2);
    expect([keeper.holds(leaseOf(1, 1)), keeper.holds(leaseOf(1, 2))]).toEqual([false, true]);
    keeper.drop(leaseOf(1, 1));
    await runtime.advance(2 * leaseMs);
    expect(keeper.holds(leaseOf(1, 2))).toBe(true);
    expect(calls.length).toBeGreaterThan(0);
    expect(newer.abandonedAt).toBeNull();
  });

  test("given back while a renewal is under way, it hears nothing of the answer", async () => {
    let answer!: (answers: readonly RenewAnswer[]) => void;
    const { runtime, keeper, hold } = begin(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const turn = hold(1);
    await runtime.advance(leaseMs / 3);
    keeper.drop(leaseOf(1));
    answer([{ kind: "lost" }]);
    await runtime.settle();
    expect(turn.heard).toEqual([]);
    expect(runtime.nextTimerAt()).toBeNull();
  });
});

describe("a lease that is lost", () => {
  test("abandons its turn at once and no other", async () => {
    const { runtime, keeper, hold } = begin(async (renewals) =>
      renewals.map(({ lease }) => (lease.runId === 2 ? { kind: "lost" } : renewed)),
    );
    const turns = [hold(1), hold(2), hold(3)];
    await runtime.advance(leaseMs / 3);
    expect(turns.map(({ heard }) => heard)).toEqual([
      ["flush", "not paused"],
      ["abandoned: STEP_INTERRUPTED"],
      ["flush", "not paused"],
    ]);
    expect([1, 2, 3].map((runId) => keeper.holds(leaseOf(runId)))).toEqual([true, false, true]);
  });

  test("a missing answer counts as lost", async () => {
    const { runtime, hold } = begin(async () => []);
    const turn = hold(1);
    await runtime.advance(leaseMs / 3);
    expect(turn.abandonedAt).not.toBeNull();
  });

  test("while the store is out of reach renewals are tried again, and one that gets through saves it", async () => {
    let failures = 2;
    const { runtime, keeper, hold } = begin(async (renewals) => {
      if (failures-- > 0) throw new Error("out of reach");
      return renewals.map(() => renewed);
    });
    const turn = hold(1);
    await runtime.advance(3 * leaseMs);
    expect(turn.abandonedAt).toBeNull();
    expect(keeper.holds(leaseOf(1))).toBe(true);
  });

  test("a renewal that fails is tried again within a second", async () => {
    const { runtime, hold, calls } = begin(async () => {
      throw new Error("out of reach");
    });
    hold(1);
    await runtime.advance(leaseMs);
    const gaps = calls.slice(1).map(({ at }, index) => at - (calls[index]?.at as number));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(1000);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(500);
  });

  test("a renewal without an answer is given up after a sixth of the lease and tried again within a second", async () => {
    const { runtime, hold, calls, signals } = begin(() => new Promise(() => {}));
    hold(1);
    await runtime.advance(leaseMs / 3 + leaseMs / 6);
    expect(signals[0]?.aborted).toBe(true);
    expect(signals[0]?.reason).toMatchObject({ failure: "ambiguous", code: "STORE_UNAVAILABLE" });
    await runtime.advance(leaseMs / 2);
    const gaps = calls.slice(1).map(({ at }, index) => at - (calls[index]?.at as number));
    expect(gaps.length).toBeGreaterThanOrEqual(2);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(leaseMs / 6 + 1000);
  });

  test("a clock that cannot be asked does not hold up what comes after it", async () => {
    const questions: (() => void)[] = [];
    const { runtime, keeper, hold, calls } = begin(undefined, () =>
      questions.length < 1 ? new Promise((resolve) => questions.push(resolve)) : null,
    );
    hold(1);
    await runtime.advance(leaseMs / 3 + leaseMs / 6 + 1000);
    expect(questions).toHaveLength(1);
    expect(calls).toHaveLength(1);
    await runtime.advance(leaseMs / 3);
    expect(keeper.holds(leaseOf(1))).toBe(true);
  });

  test("one whose run is being written is asked about again within a second, the others are not", async () => {
    const { runtime, keeper, hold, calls } = begin(async (renewals) =>
      renewals.map(({ lease }) => (lease.runId === 2 && calls.length < 3 ? { kind: "busy" } : renewed)),
    );
    const turns = [hold(1), hold(2)];
    await runtime.advance(leaseMs / 3 + 2000);
    expect(calls.map(({ runs }) => runs)).toEqual([[1, 2], [2], [2]]);
    await runtime.advance(leaseMs - 4000);
    expect([1, 2].map((runId) => keeper.holds(leaseOf(runId)))).toEqual([true, true]);
    expect(turns.map(({ abandonedAt }) => abandonedAt)).toEqual([null, null]);
  });

  test("if none gets through, the turn is stopped when its time is up, before anybody may take it", async () => {
    const { runtime, hold } = begin(async () => {
      throw new Error("out of reach");
    });
    const turn = hold(1);
    await runtime.advance(leaseMs);
    expect(turn.abandonedAt).not.toBeNull();
    expect(turn.abandonedAt).toBeLessThanOrEqual(leaseMs);
  });

  test("one whose claim was answered late ends in its own time, though others are held for longer", async () => {
    const { runtime, keeper, hold } = begin(async () => {
      throw new Error("out of reach");
    });
    const asked = runtime.monotonic();
    await runtime.advance(20_000);
    const later = hold(1);
    const late = new SomeTurn(() => runtime.monotonic());
    keeper.hold(late as unknown as Turn, leaseOf(2), asked);
    await runtime.advance(2 * leaseMs);
    expect([late.abandonedAt, later.abandonedAt]).toEqual([leaseMs, 20_000 + leaseMs]);
  });

  test("a renewal that never answers does not keep it alive either", async () => {
    const { runtime, hold } = begin(() => new Promise(() => {}));
    const turn = hold(1);
    await runtime.advance(leaseMs);
    expect(turn.abandonedAt).toBeLessThanOrEqual(leaseMs);
    expect(turn.heard).toEqual(["abandoned: STEP_INTERRUPTED"]);
  });

  test("an answer that comes after the time was up does not bring it back", async () => {
    let answer!: () => void;
    const { runtime, keeper, hold } = begin(
      (renewals) =>
        new Promise((resolve) => {
          answer = () => resolve(renewals.map(() => renewed));
        }),
    );
    hold(1);
    await runtime.advance(leaseMs + 1);
    answer();
    await runtime.settle();
    expect(keeper.holds(leaseOf(1))).toBe(false);
  });
});

describe("commits extend the lease", () => {
  test("only once a third of it is gone, so that the store stays quiet", async () => {
    const { runtime, keeper, hold } = begin(() => new Promise(() => {}));
    hold(1);
    expect(keeper.extension(leaseOf(1), runtime.monotonic())).toBe(0);
    await runtime.advance(leaseMs / 3);
    expect(keeper.extension(leaseOf(1), runtime.monotonic())).toBe(runtime.now() + leaseMs);
  });

  test("one that was applied counts from before it was sent", async () => {
    const { runtime, keeper, hold } = begin(() => new Promise(() => {}));
    const turn = hold(1);
    await runtime.advance(20_000);
    keeper.extended(leaseOf(1), 15_000, runtime.now() + 15_000);
    await runtime.advance(24_999);
    expect(keeper.holds(leaseOf(1))).toBe(true);
    expect(turn.abandonedAt).toBeNull();
    await runtime.advance(1);
    expect(keeper.holds(leaseOf(1))).toBe(false);
    expect(turn.abandonedAt).toBe(45_000);
  });

  test("a slow answer never shortens it", async () => {
    const { runtime, keeper, hold } = begin(() => new Promise(() => {}));
    await runtime.advance(10_000);
    hold(1);
    keeper.extended(leaseOf(1), 0, runtime.now());
    await runtime.advance(leaseMs - 1);
    expect(keeper.holds(leaseOf(1))).toBe(true);
  });
});
