import { expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { createWorkflowsFragment } from "./create-workflows-fragment.ts";
import { type FragnoRuntime, fragnoRuntime, runtimeFrom } from "./fragno-runtime.ts";

function plain(times: readonly number[]): FragnoRuntime {
  const left = [...times];
  return {
    time: { now: () => new Date(left.length > 1 ? (left.shift() as number) : (left[0] as number)) },
    random: { float: () => 0.25, uuid: () => "u-1", cuid: () => "c-1" },
  };
}

test("time and randomness are the fragment's runtime's", () => {
  const runtime = runtimeFrom(plain([1000]));
  expect([runtime.now?.(), runtime.float?.(), runtime.uuid?.(), runtime.cuid?.()]).toEqual([
    1000,
    0.25,
    "u-1",
    "c-1",
  ]);
});

test("the age of a lease is measured by the same clock, and never backwards", () => {
  const runtime = runtimeFrom(plain([1000, 5000, 2000, 7000]));
  expect([1, 2, 3, 4].map(() => runtime.monotonic?.())).toEqual([1000, 5000, 5000, 7000]);
});

test("timers are the system's unless the runtime has its own", () => {
  expect(runtimeFrom(plain([0]))).not.toHaveProperty("timer");
  expect(runtimeFrom(fragnoRuntime(createFakeRuntime()))).toHaveProperty("timer");
});

test("a runtime that was turned into a fragment's keeps all time in its hands", async () => {
  const clock = createFakeRuntime();
  const nap = defineWorkflow({ name: "nap" }, async (_, step) => {
    await step.sleep("nap", "1 hour");
    return "rested";
  });
  const fragment = createWorkflowsFragment(
    { workflows: { NAP: nap }, runtime: fragnoRuntime(clock) },
    { store: memory() },
  );
  await fragment.start();
  const instance = await fragment.workflows.NAP.create();
  await clock.advance("59 minutes");
  expect(await instance.status()).toEqual({ status: "waiting" });
  await clock.advance("1 minute");
  expect(await instance.status()).toEqual({ status: "complete", output: "rested" });
  await fragment.stop();
});

test("a fragment without a runtime is refused with the way to get one", () => {
  const make = (runtime: unknown) => () =>
    createWorkflowsFragment({ runtime: runtime as FragnoRuntime }, { store: memory() });
  expect(make(undefined)).toThrow(/needs a runtime.*fragnoRuntime\(systemRuntime\)/);
  expect(make({ time: { now: () => 0 } })).toThrow(/needs a runtime/);
});
