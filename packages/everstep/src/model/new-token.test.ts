import { expect, test } from "vitest";
import { newToken } from "./lease.ts";

test("tokens differ though the host's UUIDs begin with the time", () => {
  const ids = ["0199a3b1-7c00-7aaa-8000-0123456789ab", "0199a3b1-7c00-7aaa-8000-0123456789ac"];
  const tokens = ids.map((id) => newToken({ uuid: () => id }));
  expect(new Set(tokens).size).toBe(2);
  for (const token of tokens) expect(Number.isSafeInteger(token)).toBe(true);
});

test.each(["", "id-7", "0199a3b1-7c00-7aaa-8000-zzzzzzzzzzzz"])(
  "a host whose uuid is none (%j) is told so",
  (id) => {
    expect(() => newToken({ uuid: () => id })).toThrow(/runtime\.uuid gave .* which is no UUID/);
  },
);
