import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { createWorkflows } from "../client/create-workflows.ts";
import { StoreError } from "../model/error.ts";
import { memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { interceptStore } from "../testing/intercept-store.ts";
import { Outages } from "./outages.ts";

describe("what an outage of the store excuses", () => {
  const leaseMs = 30_000;

  function begin() {
    const clock = { monotonic: 0, now: 1_000_000 };
    const outages = new Outages({ monotonic: () => clock.monotonic, now: () => clock.now }, leaseMs);
    const pass = (ms: number): void => {
      clock.monotonic += ms;
      clock.now += ms;
    };
    outages.answered();
    return { outages, pass, fail: () => outages.failed(clock.monotonic) };
  }

  test("nothing is excused while the store answers, however rarely it is asked", () => {
    const { outages, pass } = begin();
    pass(10 * leaseMs);
    outages.answered();
    expect(outages.excusedFrom).toBeUndefined();
  });

  test("leases that run out from the last answer on are excused, until a lease after the store is back", () => {
    const { outages, pass, fail } = begin();
    pass(1000);
    fail();
    expect(outages.excusedFrom).toBeUndefined();
    pass(leaseMs);
    expect(outages.excusedFrom).toBe(1_000_000);
    outages.answered();
    pass(leaseMs - 1);
    outages.answered();
    expect(outages.excusedFrom).toBe(1_000_000);
    pass(1);
    expect(outages.excusedFrom).toBeUndefined();
  });

  test("the time is a whole one, which every store takes, though monotonic clocks tell fractions", () => {
    const clock = { monotonic: 0.25, now: 1_000_000 };
    const outages = new Outages({ monotonic: () => clock.monotonic, now: () => clock.now }, leaseMs);
    outages.answered();
    outages.failed(clock.monotonic);
    clock.monotonic += leaseMs + 0.5;
    clock.now += leaseMs;
    expect(outages.excusedFrom).toBe(999_999);
  });

  test("an outage too short to cost anybody a lease excuses nothing", () => {
    const { outages, pass, fail } = begin();
    fail();
    pass(leaseMs / 2 - 1);
    outages.answered();
    expect(outages.excusedFrom).toBeUndefined();
  });

  test("a call that fails after a time in which nobody asked excuses the longest such time, and no more", () => {
    const { outages, pass, fail } = begin();
    pass(10 * leaseMs);
    fail();
    pass(1000);
    expect(outages.excusedFrom).toBe(1_000_000 + 9 * leaseMs);
    outages.answered();
    expect(outages.excusedFrom).toBe(1_000_000 + 9 * leaseMs);
  });

  test("a runner that asks often knows that an outage was short", () => {
    const { outages, pass, fail } = begin();
    for (let n = 0; n < 10; n++) {
      pass(leaseMs / 3);
      fail();
      pass(1000);
      outages.answered();
    }
    expect(outages.excusedFrom).toBeUndefined();
  });

  test("a call that fails though others were answered meanwhile says nothing", () => {
    const { outages, pass } = begin();
    const since = 0;
    pass(leaseMs / 4);
    outages.answered();
    pass(leaseMs / 4);
    outages.failed(since);
    pass(leaseMs);
    expect(outages.excusedFrom).toBeUndefined();
  });

  test("an answer that took long was none until it came", async () => {
    const { outages, pass } = begin();
    await outages.watch(async () => pass(leaseMs * 0.6));
    expect(outages.excusedFrom).toBe(1_000_000);
  });

  test("a call that fails for another reason is no outage", async () => {
    const { outages, pass } = begin();
    const call = outages.watch(async () => {
      pass(leaseMs);
      throw new StoreError("conflict", "STORE_BUSY", "Others write.");
    });
    await expect(call).rejects.toThrow("Others write.");
    expect(outages.excusedFrom).toBeUndefined();
  });

  test("a process that began during an outage does not know since when it lasts, and excuses everything", () => {
    const clock = { monotonic: 0, now: 1_000_000 };
    const outages = new Outages({ monotonic: () => clock.monotonic, now: () => clock.now }, leaseMs);
    outages.failed(0);
    clock.monotonic += leaseMs / 2 - 1;
    expect(outages.excusedFrom).toBeUndefined();
    clock.monotonic += 1;
    expect(outages.excusedFrom).toBe(0);
    outages.answered();
    expect(outages.excusedFrom).toBe(0);
    clock.monotonic += leaseMs;
    expect(outages.excusedFrom).toBeUndefined();
  });

  test("a call that nobody answered counts from when it was made", () => {
    const { outages, pass } = begin();
    pass(leaseMs);
    outages.failed(leaseMs / 2);
    expect(outages.excusedFrom).toBe(1_000_000);
  });

  test("one that follows at once excuses what ran out in the first, too", () => {
    const { outages, pass, fail } = begin();
    fail();
    pass(leaseMs);
    outages.answered();
    fail();
    pass(leaseMs - 1);
    outages.answered();
    pass(leaseMs - 1);
    expect(outages.excusedFrom).toBe(1_000_000);
  });

  test("a process that stood still itself excuses nothing", () => {
    const { outages, pass, fail } = begin();
    fail();
    pass(2 * leaseMs);
    outages.stoodStill();
    outages.answered();
    expect(outages.excusedFrom).toBeUndefined();
  });
});

interface Outlived {
  readonly maxCrashes: number;
  readonly awayMs: number;
  readonly everyMs: number;
  readonly hangs: boolean;
}

describe("instances while the store is away", () => {
  /** Two processes on one store, one instance whose body takes ten minutes; the store is away for a while, six times. */
  async function outlive({ maxCrashes, awayMs, everyMs, hangs }: Outlived) {
    const runtime = createFakeRuntime();
    const waiting: (() => void)[] = [];
    const database = memory();
    let isAway = false;
    const store = () =>
      interceptStore(database, async (_call, run) => {
        const unavailable = new StoreError("unavailable", "STORE_UNAVAILABLE", "The store is away.");
        if (isAway && !hangs) throw unavailable;
        if (isAway)
          await new Promise<void>((resolve, reject) => {
            const timer = runtime.timer(() => reject(unavailable), 16_000);
            waiting.push(() => {
              timer.cancel();
              resolve();
            });
          });
        return run();
      });
    let starts = 0;
    const slow = defineWorkflow({ name: "slow", limits: { maxCrashes } }, (_event, step) =>
      step.do("work", { timeout: "1 hour" }, async () => {
        starts += 1;
        await new Promise<void>((resolve) => void runtime.timer(resolve, 600_000));
        return "done";
      }),
    );
    const open = () =>
      createWorkflows({
        workflows: { slow },
        store: store(),
        runtime,
        onProblem: () => {},
        onNotice: () => {},
      });
    const apps = [open(), open()];
    for (const app of apps) await app.start();
    const instance = await (apps[0] as (typeof apps)[0]).workflows.slow.create({ id: "one" });
    for (let outage = 0; outage < 6; outage++) {
      await runtime.advance(everyMs);
      isAway = true;
      await runtime.advance(awayMs);
      isAway = false;
      for (const goOn of waiting.splice(0)) goOn();
      await runtime.settle();
    }
    await runtime.advance("20 minutes");
    const status = await instance.status();
    for (const app of apps) await app.stop();
    return { status, starts };
  }

  test("no crash is counted against processes that live while the store is away for longer than a lease", async () => {
    const { status, starts } = await outlive({
      ...{ maxCrashes: 2, awayMs: 60_000, everyMs: 120_000, hangs: false },
    });
    expect(status).toMatchObject({ status: "complete", output: "done" });
    expect(starts).toBe(7);
  });

  test.each(
    [26_000, 31_000, 35_000].flatMap((awayMs) => [
      [awayMs, "refuses every call", false] as const,
      [awayMs, "answers no call", true] as const,
    ]),
  )("nor while it is away for %i ms and %s", async (awayMs, _how, hangs) => {
    for (const everyMs of [113_000, 121_500, 127_000]) {
      const { status } = await outlive({ maxCrashes: 2, awayMs, everyMs, hangs });
      expect(status).toMatchObject({ status: "complete", output: "done" });
    }
  });
});

test("an instance goes on undisturbed when the machine has slept for longer than a lease", async () => {
  const base = createFakeRuntime();
  let sleptMs = 0;
  // The monotonic clock of many machines stands still meanwhile.
  const runtime = { ...base, now: () => base.now() + sleptMs };
  const store = memory();
  let starts = 0;
  const slow = defineWorkflow({ name: "slow" }, (_event, step) =>
    step.do("work", async () => {
      starts += 1;
      await new Promise<void>((resolve) => void base.timer(resolve, 60_000));
      return "done";
    }),
  );
  const app = createWorkflows({ workflows: { slow }, store, runtime, onProblem: () => {} });
  await app.start();
  const instance = await app.workflows.slow.create({ id: "one" });
  for (let night = 0; night < 3; night++) {
    await base.advance("10 seconds");
    sleptMs += 8 * 3_600_000;
  }
  await base.advance("1 minute");
  expect(await instance.status()).toMatchObject({ status: "complete", output: "done" });
  expect(starts).toBe(1);
  await app.stop();
});
