import { describe, expect, test } from "vitest";
import { type HeaderValues, joinHeaders } from "./request-headers.ts";

test("headers are sent as they were given, as an object or as Headers", () => {
  const given = { Authorization: "Bearer x", "x-team": "a" };
  for (const each of [given, new Headers(given)]) {
    expect(Object.fromEntries(joinHeaders(each, { accept: "application/json" }))).toEqual({
      accept: "application/json",
      authorization: "Bearer x",
      "x-team": "a",
    });
  }
});

test("what the client itself says cannot be overwritten", () => {
  expect(joinHeaders({ Accept: "text/html" }, { accept: "application/json" }).get("accept")).toBe(
    "application/json",
  );
});

test("a header that is undefined is left out", () => {
  expect([...joinHeaders({ authorization: undefined as unknown as string }, {})]).toEqual([]);
});

describe("a header is refused, and its value never shown,", () => {
  test.each<[string, HeaderValues]>([
    ["with CR", { authorization: "secret\rx-admin: 1" }],
    ["with LF", { authorization: "secret\nx-admin: 1" }],
    ["with NUL", { authorization: "secret\0" }],
    ["with characters beyond bytes", { authorization: "secret€" }],
    ["with a name that is none", { "x y": "secret" }],
    ["with a name with a line break", { "x\r\ny": "secret" }],
    ["with an empty name", { "": "secret" }],
    ["with a value that is no text", { authorization: ["secret"] as unknown as string }],
    ["as something else", "secret" as unknown as HeaderValues],
    ["as null", null as unknown as HeaderValues],
  ])("%s", (_what, given) => {
    const join = (): unknown => joinHeaders(given, {});
    expect(join).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    expect(join).not.toThrow("secret");
  });
});
