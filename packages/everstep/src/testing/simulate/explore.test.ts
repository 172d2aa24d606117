import { expect, test } from "vitest";
import { explore } from "./explore.ts";
import { isCalm } from "./weather.ts";

test("the same seed is the same world, to the last call", async () => {
  for (const mode of ["safety", "liveness"] as const) {
    const first = await explore(42, { mode });
    const second = await explore(42, { mode });
    expect(second.hash).toBe(first.hash);
    expect(second.trace()).toEqual(first.trace());
  }
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
