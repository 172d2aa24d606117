import { describe, expect, test } from "vitest";
import { type AuthorizeContext, refuse } from "./authorize.ts";
import { bearerToken } from "./bearer-token.ts";

const token = "0123456789abcdef";
const other = "fedcba9876543210";

/** What the hooks say to a request with this header: null where they allow it. */
async function statusOf(
  authorize: ReturnType<typeof bearerToken>,
  header: string | null,
  hook: "read" | "management" = "read",
) {
  const request = new Request(
    "http://localhost/",
    header === null ? {} : { headers: { authorization: header } },
  );
  const method = hook === "read" ? "GET" : "POST";
  const context = { request, method, state: new Map() } as unknown as AuthorizeContext;
  const first = await authorize.request?.(context);
  const answer = first ?? (await authorize[hook]?.(context as never));
  return answer instanceof Response ? answer.status : null;
}

describe("who has the token is let in", () => {
  test.each([`Bearer ${token}`, `bearer ${token}`, `BEARER   ${token}`])("%s", async (header) => {
    expect(await statusOf(bearerToken(token), header, "management")).toBeNull();
  });

  test("and so is who has any of several", async () => {
    const authorize = bearerToken([token, other]);
    expect(await statusOf(authorize, `Bearer ${token}`)).toBeNull();
    expect(await statusOf(authorize, `Bearer ${other}`)).toBeNull();
  });

  test("a reader's token reads and changes nothing", async () => {
    const authorize = bearerToken({ tokens: token, readOnlyTokens: [other] });
    expect(await statusOf(authorize, `Bearer ${other}`)).toBeNull();
    expect(await statusOf(authorize, `Bearer ${other}`, "management")).toBe(403);
    expect(await statusOf(authorize, `Bearer ${token}`, "management")).toBeNull();
  });

  test("a reader who wants to change something is refused before anything it sends is read", async () => {
    const { request } = bearerToken({ tokens: token, readOnlyTokens: other });
    const ask = (method: string, sent: string) => {
      const headers = { authorization: `Bearer ${sent}` };
      const context = {
        method,
        request: new Request("http://localhost/", { method, headers }),
        state: new Map(),
      };
      return request?.(context as unknown as AuthorizeContext);
    };
    expect(await ask("POST", other)).toMatchObject({ status: 403 });
    expect(await ask("GET", other)).toBeUndefined();
    expect(await ask("POST", token)).toBeUndefined();
    expect(await ask("DELETE", other)).toBeInstanceOf(Response);
    expect(await ask("DELETE", token)).toBeUndefined();
  });

  test("with readers' tokens only, nobody changes anything", async () => {
    const authorize = bearerToken({ readOnlyTokens: other });
    expect(await statusOf(authorize, `Bearer ${other}`)).toBeNull();
    expect(await statusOf(authorize, `Bearer ${other}`, "management")).toBe(403);
  });
});

describe("everybody else is asked for one (SEC-14, R-095)", () => {
  test.each([
    ["nothing", null],
    ["an empty header", ""],
    ["no token", "Bearer"],
    ["an empty token", "Bearer "],
    ["another scheme", `Basic ${token}`],
    ["no scheme", token],
    ["a shorter one", `Bearer ${token.slice(0, -1)}`],
    ["a longer one", `Bearer ${token}0`],
    ["one that differs in a letter", `Bearer ${token.slice(0, -1)}F`],
    ["one in capitals", `Bearer ${token.toUpperCase()}`],
    ["two of them", `Bearer ${token}, Bearer ${token}`],
    ["two in one", `Bearer ${token} ${token}`],
    ["one in quotes", `Bearer "${token}"`],
    ["a very long one", `Bearer ${"x".repeat(5000)}`],
  ])("%s", async (_what, header) => {
    expect(await statusOf(bearerToken([token, other]), header)).toBe(401);
  });

  test("and is told how, in the words of the standard", async () => {
    const answer = refuse(401, "Send a token.");
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    expect(await answer.json()).toMatchObject({ error: { code: "UNAUTHORIZED", message: "Send a token." } });
  });
});

describe("a token that is none is a mistake at the start, not an open door", () => {
  test.each([
    ["a variable that is not set", undefined],
    ["an empty text", ""],
    ["no tokens", []],
    ["no tokens in options", {}],
    ["one that can be guessed", "password"],
    ["one with a space", "0123456789 abcdef"],
    ["one with a line end", "0123456789abcdef\n"],
    ["one of many that is too short", [token, "short"]],
    ["a number", 1_234_567_890_123_456],
    ["null", null],
  ])("%s", (_what, given) => {
    expect(() => bearerToken(given as never)).toThrow(/token/);
  });
});
