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

  test("an outage too short to cost anybody a lease excuses nothing", () => {
    const { outages, pass, fail } = begin();
    fail();
    pass(leaseMs / 2 - 1);
    outages.answered();
    expect(outages.excusedFrom).toBeUndefined();
  });

  test("a call that fails once says nothing of the time in which nobody asked", () => {
    const { outages, pass, fail } = begin();
    pass(10 * leaseMs);
    fail();
    pass(1000);
    expect(outages.excusedFrom).toBeUndefined();
    outages.answered();
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

describe("instances while the store is away", () => {
  /** Two processes on one store, one instance whose body takes ten minutes; the store is away for a minute, six times. */
  async function outlive(crashesMax: number) {
    const runtime = createFakeRuntime();
    const database = memory();
    let isAway = false;
    const store = () =>
      interceptStore(database, async (_call, run) => {
        if (isAway) throw new StoreError("unavailable", "STORE_UNAVAILABLE", "The store is away.");
        return run();
      });
    let starts = 0;
    const slow = defineWorkflow({ name: "slow", limits: { crashesMax } }, (_event, step) =>
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
      await runtime.advance("2 minutes");
      isAway = true;
      await runtime.advance("1 minute");
      isAway = false;
    }
    await runtime.advance("20 minutes");
    const status = await instance.status();
    for (const app of apps) await app.stop();
    return { status, starts };
  }

  test("no crash is counted against processes that live while the store is away for longer than a lease", async () => {
    const { status, starts } = await outlive(2);
    expect(status).toMatchObject({ status: "complete", output: "done" });
    expect(starts).toBe(7);
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
