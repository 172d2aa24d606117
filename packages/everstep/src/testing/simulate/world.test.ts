import { expect, test } from "vitest";
import { World } from "./world.ts";

test("moments come in the order of their time, and of their making where that is the same", async () => {
  const world = new World(1);
  const seen: string[] = [];
  world.after(5, () => seen.push("late"));
  world.after(1, () => seen.push("early"));
  world.after(1, () => seen.push("early too"));
  await world.run(() => false);
  expect(seen).toEqual(["early", "early too", "late"]);
  expect(world.elapsed).toBe(5);
});

test("all that follows from a moment happens before the next one", async () => {
  const world = new World(1);
  const seen: string[] = [];
  world.after(1, async () => {
    for (let step = 0; step < 100; step++) await null;
    seen.push("followed");
  });
  world.after(1, () => seen.push("next"));
  await world.run(() => false);
  expect(seen).toEqual(["followed", "next"]);
});

test("what waits for the microtasks to drain comes before time passes", async () => {
  const world = new World(1);
  const seen: string[] = [];
  world.after(0, () => {
    world.runtime.drained(() => seen.push("drained"));
    seen.push("asked");
  });
  world.after(0, () => seen.push("timer"));
  await world.run(() => false);
  expect(seen).toEqual(["asked", "drained", "timer"]);
});

test("a cancelled timer never fires, and a world with nothing left ends", async () => {
  const world = new World(1);
  const timer = world.runtime.timer(() => expect.unreachable(), 10);
  timer.cancel();
  await world.run(() => false);
  expect(world.moments).toBe(0);
});

test("it ends when it is told so, and goes on from there", async () => {
  const world = new World(1);
  let ticks = 0;
  const tick = (): void => {
    ticks++;
    world.after(1000, tick);
  };
  tick();
  await world.run(() => ticks === 5);
  expect(world.elapsed).toBe(4000);
  await world.run(() => ticks === 7);
  expect(world.now).toBe(Date.UTC(2026, 0, 1) + 6000);
});

test("what a moment throws ends the world", async () => {
  const world = new World(1);
  world.after(1, () => {
    throw new Error("broken");
  });
  await expect(world.run(() => false)).rejects.toThrow("broken");
});
