import { afterEach, describe, expect, test, vi } from "vitest";
import { addressOf, checkInstanceId, checkTopic, checkWorkflowName, readMountUrl } from "./address.ts";

afterEach(() => vi.unstubAllGlobals());

describe("the url of a client", () => {
  test.each([
    ["http://127.0.0.1:4610", "http://127.0.0.1:4610"],
    ["http://127.0.0.1:4610/", "http://127.0.0.1:4610"],
    ["https://example.com/api/workflows/", "https://example.com/api/workflows"],
    ["https://example.com/api//", "https://example.com/api"],
  ])("%s may have a slash at its end or not", (given, mountUrl) => {
    expect(readMountUrl(given)).toBe(mountUrl);
    expect(readMountUrl(new URL(given))).toBe(mountUrl);
  });

  test("is relative to the page in a browser", () => {
    vi.stubGlobal("location", { href: "https://example.com/app/page?x=1" });
    expect(readMountUrl("/api")).toBe("https://example.com/api");
  });

  test.each([
    [undefined, "is missing"],
    ["", "is missing"],
    [42, "is missing"],
    ["/api", "is not a URL"],
    ["127.0.0.1:4610", "is not a URL"],
    ["ftp://example.com/", 'begins with "ftp:"'],
    ["https://me:secret@example.com/", "holds a user or a password"],
    ["https://example.com/?token=secret", "has a query or a fragment"],
    ["https://example.com/#part", "has a query or a fragment"],
  ])("%s is refused, without showing secrets", (given, why) => {
    const read = (): unknown => readMountUrl(given);
    expect(read).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
    expect(read).toThrow(why);
    expect(read).not.toThrow("secret");
  });
});

describe("ids in a path (R-094)", () => {
  const checks = [
    [checkInstanceId, "INVALID_INSTANCE_ID"],
    [checkWorkflowName, "INVALID_WORKFLOW_NAME"],
    [checkTopic, "INVALID_TOPIC"],
  ] as const;

  test.each([".", "..", "", "a/b", "../x", "..\\x", "a\0b", "a\nb", "\ud800", undefined, null, 7, {}])(
    "%j is refused before it can lead elsewhere",
    (id) => {
      for (const [check, code] of checks) expect(() => check(id)).toThrow(expect.objectContaining({ code }));
    },
  );

  test.each(["a?b#c", "%2e%2e", "..%2f", "a b", "a&b=c", "ü", "...", "a:b@c", "a;b"])(
    "%s stays one segment that decodes to itself",
    (id) => {
      const address = addressOf("http://example.com/api", ["workflows", checkInstanceId(id), "history"]);
      const { pathname, search, hash } = new URL(address);
      const [, ...segments] = pathname.split("/").map(decodeURIComponent);
      expect(segments).toEqual(["api", "workflows", id, "history"]);
      expect([search, hash]).toEqual(["", ""]);
    },
  );
});

test("what is left out of a query is not sent, and lists are repeated", () => {
  const query = {
    status: ["active", "waiting"],
    cursor: undefined,
    deadLetter: false,
    pageSize: 5,
    category: "a&b",
  };
  expect(addressOf("http://h", ["instances"], query)).toBe(
    "http://h/instances?status=active&status=waiting&deadLetter=false&pageSize=5&category=a%26b",
  );
});
