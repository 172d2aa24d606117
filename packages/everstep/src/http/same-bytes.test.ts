import { describe, expect, test } from "vitest";
import { sameBytes } from "./same-bytes.ts";

const bytes = (...given: number[]) => Uint8Array.from(given);

/** How many bytes of the first were looked at. */
function looksAt(a: Uint8Array, b: Uint8Array): number {
  let looks = 0;
  const watched = new Proxy(a, {
    get(target, key) {
      if (typeof key === "string" && /^\d+$/.test(key)) looks += 1;
      return Reflect.get(target, key, target);
    },
  });
  sameBytes(watched, b);
  return looks;
}

describe("bytes are compared", () => {
  test.each([
    [bytes(), bytes(), true],
    [bytes(1, 2, 3), bytes(1, 2, 3), true],
    [bytes(1, 2, 3), bytes(1, 2, 4), false],
    [bytes(0), bytes(), false],
    [bytes(), bytes(0), false],
    [bytes(1), bytes(1, 0), false],
    [bytes(1, 0), bytes(1), false],
  ])("%o and %o: %s", (a, b, expected) => {
    expect(sameBytes(a, b)).toBe(expected);
  });

  test("with as many looks wherever they differ, and when they do not (SEC-14)", () => {
    const one = new Uint8Array(32).fill(7);
    const others = Array.from({ length: 32 }, (_, at) => one.with(at, 8));
    expect(new Set([one, ...others].map((other) => looksAt(one, other)))).toEqual(new Set([32]));
  });
});
