import { describe, expect, test } from "vitest";
import { createFakeRuntime } from "../../testing/fake-runtime.ts";
import { GiveUp } from "./give-up.ts";

/** A clock that moves a little with every look at it, as real ones do. */
function moving() {
  const runtime = createFakeRuntime();
  let looks = 0;
  return { ...runtime, monotonic: () => runtime.monotonic() + ++looks / 1000 };
}

function heard(giveUp: GiveUp): () => boolean {
  let isUp = false;
  void giveUp.timeIsUp.then(() => {
    isUp = true;
  });
  return () => isUp;
}

describe("giving up", () => {
  test("takes the time it was given when the clock moves", async () => {
    const runtime = moving();
    const isUp = heard(new GiveUp(runtime, 1000, () => 0));
    await runtime.advance(999);
    expect(isUp()).toBe(false);
    await runtime.advance(1);
    expect(isUp()).toBe(true);
  });

  test("waits on while there are signs of life", async () => {
    const runtime = moving();
    let signs = 0;
    const isUp = heard(new GiveUp(runtime, 1000, () => signs));
    for (signs = 1; signs < 5; signs++) await runtime.advance(1000);
    expect(isUp()).toBe(false);
    await runtime.advance(2000);
    expect(isUp()).toBe(true);
  });

  test("does not wait for a clock that stands still", async () => {
    const runtime = createFakeRuntime();
    await new GiveUp(runtime, 1000, () => 0).timeIsUp;
    expect(runtime.monotonic()).toBe(0);
  });

  test("leaves no timer behind once it is not needed", async () => {
    const runtime = moving();
    const giveUp = new GiveUp(runtime, 1000, () => 0);
    giveUp.cancel();
    await runtime.settle();
    expect(runtime.nextTimerAt()).toBeNull();
  });
});
