import { expect, test } from "vitest";
import { isCalm } from "../../../packages/everstep/src/testing/simulate/weather.ts";
import { explore } from "./explore.ts";

test("the same seed is the same world, to the last call", async () => {
  for (const mode of ["safety", "liveness"] as const) {
    const first = await explore(42, { mode });
    const second = await explore(42, { mode });
    expect(second.hash).toBe(first.hash);
    expect(second.trace()).toEqual(first.trace());
  }
});

test("a seed is the same world wherever the project lies: no stack is part of it", async () => {
  const { stackTraceLimit } = Error;
  const hashes = [];
  for (const frames of [1, 100]) {
    Error.stackTraceLimit = frames;
    hashes.push((await explore(2750)).hash);
    expect(Error.stackTraceLimit).toBe(frames);
  }
  Error.stackTraceLimit = stackTraceLimit;
  expect(hashes[1]).toBe(hashes[0]);
});

test("a seed is the same world whatever the collector does", async () => {
  const real = globalThis.WeakRef;
  const hashes = [];
  for (const isKept of [true, false]) {
    globalThis.WeakRef = class<Value extends WeakKey> {
      readonly #value: Value | undefined;

      constructor(value: Value) {
        this.#value = isKept ? value : undefined;
      }

      deref(): Value | undefined {
        return this.#value;
      }
    } as unknown as typeof WeakRef;
    for (const seed of [2750, 5, 6]) hashes.push((await explore(seed)).hash);
  }
  globalThis.WeakRef = real;
  expect(hashes.slice(3)).toEqual(hashes.slice(0, 3));
});

test("a tape of everything that was drawn is the same world again", async () => {
  const first = await explore(43, { mode: "liveness" });
  const again = await explore(43, { mode: "liveness", tape: first.tape() });
  expect(again.hash).toBe(first.hash);
});

test("a tape that says nothing is a calm world in which something completes", async () => {
  const { finding, weather, sightings } = await explore(1, { mode: "liveness", tape: {} });
  expect(finding).toBeNull();
  expect(isCalm(weather)).toBe(true);
  expect(sightings.get("status: complete")).toBeGreaterThan(0);
});

test("a world that goes round in circles is told of, not waited for", async () => {
  const { finding } = await explore(44, { momentsMax: 50 });
  expect(finding?.invariant).toBe("INV-50");
});
