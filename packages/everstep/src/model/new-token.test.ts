import { expect, test } from "vitest";
import { newToken } from "./lease.ts";

test("tokens differ though the host's UUIDs begin with the time", () => {
  const ids = ["0199a3b1-7c00-7aaa-8000-0123456789ab", "0199a3b1-7c00-7aaa-8000-0123456789ac"];
  const tokens = ids.map((id) => newToken({ uuid: () => id }));
  expect(new Set(tokens).size).toBe(2);
  for (const token of tokens) expect(Number.isSafeInteger(token)).toBe(true);
});

test("tokens differ though the host's UUIDs end with its address", () => {
  const ids = [
    "f47ac10b-58cc-11ef-9262-0242ac120002",
    "f47ac10c-58cc-11ef-9262-0242ac120002",
    "f47ac10b-58cc-11ef-9263-0242ac120002",
    "f47ac10b-58cc-11f0-9262-0242ac120002",
    ...Array.from(
      { length: 10_000 },
      (_unused, n) => `${(n * 16).toString(16).padStart(8, "0")}-58cc-11ef-9262-0242ac120002`,
    ),
  ];
  const tokens = ids.map((id) => newToken({ uuid: () => id }));
  expect(new Set(tokens).size).toBe(ids.length);
  for (const token of tokens) expect(Number.isSafeInteger(token) && token > 0).toBe(true);
});

test.each(["", "id-7", "0199a3b1-7c00-7aaa-8000-zzzzzzzzzzzz", "0199a3b1-zz00-7aaa-8000-0123456789ab"])(
  "a host whose uuid is none (%j) is told so",
  (id) => {
    expect(() => newToken({ uuid: () => id })).toThrow(/runtime\.uuid gave .* which is no UUID/);
  },
);
