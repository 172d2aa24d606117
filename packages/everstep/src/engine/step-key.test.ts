import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StepType } from "../model/step.ts";
import { cloudflareKey, stepKey } from "./step-key.ts";

describe("a step's key", () => {
  test.each([
    ["charge card", null, 1, "charge card"],
    ["charge", "order", 1, "order/charge"],
    ["charge", null, 2, "charge#2"],
    ["charge", "order#2", 3, "order#2/charge#3"],
    ["a/b", null, 1, "a\\/b"],
    ["a\\b", null, 1, "a\\\\b"],
    ["item #7", null, 1, "item \\#7"],
    ["issue #7 done", null, 1, "issue #7 done"],
    ["a#1#2", null, 1, "a#1\\#2"],
    ["#", null, 1, "#"],
  ])("%j in %j, use %j is %j", (name, parent, count, key) => {
    expect(stepKey(name, parent, count)).toBe(key);
  });

  test.each([
    ["a repeated step and one named like it", stepKey("a", null, 2), stepKey("a#2", null, 1)],
    ["a nested step and one named like it", stepKey("b", "a", 1), stepKey("a/b", null, 1)],
    ["an escaped name and the name of the escape", stepKey("a/b", null, 1), stepKey("a\\/b", null, 1)],
  ])("is not shared by %s", (_, one, other) => {
    expect(one).not.toBe(other);
  });
});

/** A place in a run: a path of names, each of them repeated or not. */
const names = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "/", "\\", "#", "@", "1", "0", ":"), minLength: 1, maxLength: 5 }),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }),
);
const places = fc.array(fc.record({ name: names, count: fc.integer({ min: 1, max: 12 }) }), {
  minLength: 1,
  maxLength: 3,
});
const cloudPlaces = fc.array(
  fc.record({
    name: names,
    type: fc.constantFrom<StepType>("do", "sleep", "waitForEvent"),
    occurrence: fc.integer({ min: 1, max: 12 }),
    attempt: fc.integer({ min: 1, max: 12 }),
  }),
  { minLength: 1, maxLength: 3 },
);

describe("no two places share a key", () => {
  test("for any names, repeats and nesting", () => {
    const keyOf = (place: typeof places extends fc.Arbitrary<infer P> ? P : never): string =>
      place.reduce<string | null>((parent, { name, count }) => stepKey(name, parent, count), null) as string;
    fc.assert(
      fc.property(places, places, (one, other) => {
        expect(keyOf(one) === keyOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
      { numRuns: 5000, seed: 7 },
    );
  });

  test("for code written for Cloudflare, with the attempts of the steps around it", () => {
    type Place = typeof cloudPlaces extends fc.Arbitrary<infer P> ? P : never;
    const keyOf = (place: Place): string => {
      let parent: { key: string; attempt: number } | null = null;
      for (const { name, type, occurrence, attempt } of place)
        parent = { key: cloudflareKey(type, name, occurrence, parent), attempt };
      return parent?.key ?? "";
    };
    // The attempt of the innermost step is no part of its place.
    const placeOf = (place: Place): string =>
      JSON.stringify(place.map((part, at) => (at === place.length - 1 ? { ...part, attempt: 0 } : part)));
    fc.assert(
      fc.property(cloudPlaces, cloudPlaces, (one, other) => {
        expect(keyOf(one) === keyOf(other)).toBe(placeOf(one) === placeOf(other));
      }),
      { numRuns: 5000, seed: 7 },
    );
  });
});
